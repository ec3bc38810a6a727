import { recordOf, textOf, timeOf } from './foreign-database.js';
import type { ForeignEvent } from './foreign-log.js';
import { eventOfGo } from './trpc-agent-go-event.js';

/** The summary of a whole session. */
export interface GoSummary {
  /** The last event that it covers. */
  readonly lastEventId: string;
  readonly cutoff: number;
  readonly event: ForeignEvent;
}

export function summaryOf(summary: Readonly<Record<string, unknown>>, createTime: number): GoSummary | undefined {
  const text = textOf(summary.summary);
  // It is of a session that had this id before.
  if (text === '' || (timeOf(summary.updated_at) ?? createTime) < createTime) return undefined;
  const boundary = recordOf(summary.boundary);
  const cutoff = timeOf(boundary.cutoff_at) ?? timeOf(summary.updated_at) ?? createTime;
  const content = { role: 'user', parts: [{ text }] };
  return {
    lastEventId: textOf(boundary.last_event_id),
    cutoff,
    event: { id: 'import:summary', author: 'system', timestamp: cutoff, content, isSummary: true },
  };
}

/** The events as they are stored. The summary stands after the last one that it covers. */
export async function* withSummary(
  stored: AsyncIterable<unknown>,
  summary: GoSummary | undefined,
): AsyncGenerator<ForeignEvent> {
  let waiting = summary;
  let isFirst = true;
  for await (const given of stored) {
    const event = eventOfGo(recordOf(given));
    if (waiting && (event.timestamp ?? 0) > waiting.cutoff) {
      if (!isFirst) yield waiting.event;
      waiting = undefined;
    }
    yield event;
    isFirst = false;
    if (waiting && event.id === waiting.lastEventId) {
      yield waiting.event;
      waiting = undefined;
    }
  }
  if (waiting && !isFirst) yield waiting.event;
}
