import { LimitExceededError } from '../../domain/errors.js';
import { EMPTY_LOG, type InitialEvent, type InitialLog } from '../../domain/initial-log.js';
import type { ScriptArguments } from './script-arguments.js';
import { countersText, rangesText } from './session-replies.js';

/** A command of Redis takes 1,048,576 arguments. */
const MOST_EVENTS = 1_000_000;

/** A log to begin with, as CREATE_SESSION takes it: one argument for each event, since there may be many. */
export function logArguments(log: InitialLog = EMPTY_LOG): ScriptArguments {
  const { events, tipSeq, counters, marks, marksSeq } = log;
  if (events.length > MOST_EVENTS) {
    throw new LimitExceededError(`a session can begin with at most ${MOST_EVENTS} events, not ${events.length}`, 'log');
  }
  const anchors = events.flatMap(({ anchor }, index) => (anchor ? [index + 1] : []));
  return [
    tipSeq,
    events.at(-1)?.highWater ?? 0,
    counters.turns,
    counters.events,
    counters.contentLength,
    counters.tokens,
    rangesText(marks.hidden),
    marks.viewFromSeq,
    marks.summarySeq,
    marksSeq,
    countersText(marks.covered),
    anchors.join(' '),
    events.length,
    ...events.map(packed),
  ];
}

/** As APPEND_COMMIT packs an event. */
function packed({ appendedAt, highWater, digest, id, payload }: InitialEvent): string {
  return [appendedAt, highWater, digest, id, payload].join('\n');
}
