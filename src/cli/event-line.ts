import {
  getFunctionCalls,
  getFunctionResponses,
  isRewind,
  isSummary,
  listEventTexts,
} from '../sessions/domain/event/event-inspection.js';
import { isDamagedEvent } from '../sessions/domain/stored/damaged-event.js';
import type { EventInput } from '../sessions/domain/event/event.js';
import { shown, time } from './output.js';

/** An event in one line: number, time, author, and what it says and does. */
export function eventLine(event: EventInput & { readonly seq?: number | undefined }): string {
  const { actions = {} } = event;
  const keys = [...Object.keys(actions.stateDelta ?? {}), ...(actions.stateRemovals ?? []).map((key) => `-${key}`)];
  const parts = [
    isDamagedEvent(event) && 'is damaged in the store',
    isSummary(event) && `summary up to ${actions.compaction?.toSeq}`,
    isRewind(event) && `rewind to ${actions.rewind?.toSeq}`,
    listEventTexts(event).join(' '),
    ...getFunctionCalls(event).map(({ name }) => `calls ${name}`),
    ...getFunctionResponses(event).map(({ name }) => `result of ${name}`),
    keys.length > 0 && `sets ${keys.join(', ')}`,
  ].filter((part) => part !== false && part !== '');
  const place = event.partial === true ? '…' : String(event.seq ?? '');
  const at = event.timestamp === undefined ? '' : time(event.timestamp);
  return shown([place.padStart(6), at, event.author ?? '', parts.join(' · ')].join('  ').trimEnd());
}
