import { digestOf } from '../values/json-digest.js';
import { isRewind } from './event-inspection.js';
import type { EventInput } from './event.js';

/** The group of all rewinds. It has no colon, and is shorter than a digest. */
export const REWINDS = 'rewinds';

/** Ids that are short enough for a group. */
const SHORT = /^[!-~]{1,62}$/;

/**
 * The group of an invocation: its id, or a digest of an id that is long or has other characters.
 *
 * @example const group = groupOfInvocation('turn-7');
 */
export function groupOfInvocation(invocationId: string): string {
  return SHORT.test(invocationId) ? `i:${invocationId}` : digestOf(invocationId);
}

/**
 * The group of an event: the events of an invocation, or all rewinds, are found without reading the log.
 *
 * @example const commit = { id: event.id, group: toEventGroup(event), payload };
 */
export function toEventGroup(event: Pick<EventInput, 'actions' | 'invocationId'>): string {
  if (isRewind(event)) return REWINDS;
  return event.invocationId ? groupOfInvocation(event.invocationId) : '';
}

/** Where to look for an event of a group. */
export interface GroupSearch {
  /** Not empty. */
  readonly group: string;
  /** The next one at this event or after it, or the previous one at this event or before it. */
  readonly direction: 'next' | 'previous';
  readonly from: number;
}
