import { LimitExceededError } from '../../../domain/errors/errors.js';
import { payloadChecksum } from '../../../domain/write/event-digest.js';
import { type InitialEvent, type InitialLog, EMPTY_LOG } from '../../../domain/stored/session-record.js';
import type { ScriptArguments } from '../script/codec.js';

/** A Redis command takes at most 1,048,576 arguments. */
const MAX_INITIAL_EVENTS = 1_000_000;

/** The initial log of a fork. Each event is one argument, because there may be many. */
export function logArguments(log: InitialLog = EMPTY_LOG): ScriptArguments {
  const { events } = log;
  if (events.length > MAX_INITIAL_EVENTS) {
    throw new LimitExceededError(
      `a session can begin with at most ${MAX_INITIAL_EVENTS} events, not ${events.length}`,
      'log',
    );
  }
  const anchors = events.flatMap(({ anchor }, index) => (anchor ? [index + 1] : []));
  const groups = events.map(({ group = '' }) => `${group}\n`).join('');
  return [anchors.join(' '), groups, events.length, ...events.map(encodeEvent)];
}

/** The same encoding as in APPEND_COMMIT. */
export function encodeEvent({ appendedAt, highWater, id, payload }: InitialEvent): string {
  return [appendedAt, highWater, payloadChecksum(payload), id, payload].join('\n');
}
