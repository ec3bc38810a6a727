import { epochMilliseconds } from '../../domain/process/clock.js';
import type { Event, EventActionsInput } from '../../domain/event/event.js';
import { idProblem } from '../../domain/values/ids.js';
import type { VertexActions, VertexEvent } from './wire.js';

/** The event of another program in our shape. Its raw event has what the API has no field for. */
export function foreignEvent(stored: VertexEvent, name: string, time: number): Event {
  const { rawEvent = {}, eventMetadata = {}, actions = {} } = stored;
  // Partial events are never stored; what is in the log is whole.
  const { partial: _partial, seq: _seq, ...raw } = rawEvent;
  const { partial: _isPartial, customMetadata, ...metadata } = eventMetadata;
  const id = raw.id;
  return {
    ...metadata,
    ...raw,
    ...given('customMetadata', raw.customMetadata ?? customMetadata),
    ...given('errorCode', stored.errorCode),
    ...given('errorMessage', stored.errorMessage),
    ...given('content', raw.content ?? stored.content),
    id: typeof id === 'string' && idProblem(id) === undefined ? id : name,
    invocationId: stored.invocationId ?? '',
    author: stored.author || 'unknown',
    timestamp: typeof raw.timestamp === 'number' && raw.timestamp >= 0 ? epochMilliseconds(raw.timestamp, '$') : time,
    actions: foreignActions(actions, raw.actions as EventActionsInput | undefined),
  } as Event;
}

/**
 * Summaries and rewinds of other programs count by time or invocation, ours by number, so they become plain events.
 */
function foreignActions(
  { transferAgent, stateDelta, ...others }: VertexActions,
  raw: EventActionsInput = {},
): EventActionsInput & { stateDelta: Record<string, unknown> } {
  const { compaction: _compaction, rewind: _rewind, ...kept } = raw;
  return {
    ...(others as EventActionsInput),
    ...given('transferToAgent', transferAgent),
    ...kept,
    stateDelta: { ...(kept.stateDelta ?? stateDelta) },
  };
}

function given(name: string, value: unknown): Record<string, unknown> {
  return value === undefined ? {} : { [name]: value };
}
