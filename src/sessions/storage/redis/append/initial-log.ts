import { LimitExceededError } from '../../../domain/errors.js';
import { payloadChecksum } from '../../../domain/event-digest.js';
import { type InitialEvent, type InitialLog, type LogOrigin, EMPTY_LOG } from '../../../domain/session-record.js';
import { type ScriptArguments, optional } from '../script/codec.js';
import { counterValues, countersText, rangesText } from '../../record-text.js';

/** A Redis command takes at most 1,048,576 arguments. */
const MAX_INITIAL_EVENTS = 1_000_000;

/** The initial log of a fork. Each event is one argument, because there may be many. */
export function logArguments(log: InitialLog = EMPTY_LOG): ScriptArguments {
  const { events, tipSeq, counters, marks, marksSeq, origin } = log;
  if (events.length > MAX_INITIAL_EVENTS) {
    throw new LimitExceededError(
      `a session can begin with at most ${MAX_INITIAL_EVENTS} events, not ${events.length}`,
      'log',
    );
  }
  const anchors = events.flatMap(({ anchor }, index) => (anchor ? [index + 1] : []));
  return [
    tipSeq,
    events.at(-1)?.highWater ?? 0,
    ...counterValues(counters),
    rangesText(marks.hidden),
    marks.viewFromSeq,
    marks.summarySeq,
    marksSeq,
    countersText(marks.covered),
    anchors.join(' '),
    events.map(({ group = '' }) => `${group}\n`).join(''),
    ...originArguments(origin),
    events.length,
    ...events.map(encodeEvent),
  ];
}

/** Nothing for a session that begins here. */
function originArguments(origin: LogOrigin | undefined): ScriptArguments {
  return [origin?.createTime, origin?.lastUpdateTime, origin?.expiresAt, origin?.firstSeq].map(optional);
}

/** The same encoding as in APPEND_COMMIT. */
export function encodeEvent({ appendedAt, highWater, id, payload }: InitialEvent): string {
  return [appendedAt, highWater, payloadChecksum(payload), id, payload].join('\n');
}
