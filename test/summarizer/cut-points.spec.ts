import fc from 'fast-check';
import { isAnchor } from '../../src/sessions/domain/event/event-inspection.js';
import type { LoggedEvent } from '../../src/index.js';
import { CutPoints, MAX_PENDING_EVENTS, openCalls } from '../../src/summarizer/conversation/cut-points.js';
import { runsOr, searching } from '../differential/runs.js';
import { isTornAt, loggedEventsOf, withCut } from './log-notation.js';

function cutIn(log: string, keep: number, isForced = false): number {
  const events = loggedEventsOf(log);
  return new CutPoints(events, { isWhole: true, isForced }).lastUpTo(events.length - keep);
}

const many = (count: number, word: string): string => Array.from({ length: count }, () => word).join(' ');

/** The first cut that separates no call from its response, including future responses to open calls. */
function firstSafePlace(events: readonly LoggedEvent[], wanted: number): number | undefined {
  const open = openCalls(events);
  const firstOpen = Math.min(Infinity, ...open.values());
  const places = Array.from({ length: Math.max(0, wanted) }, (_, index) => index + 1);
  return places.find((place) => place <= firstOpen && !isTornAt(events, place));
}

describe('CutPoints', () => {
  // Title, `keepRecentEvents`, and the log with its cut. A log without a mark has no cut.
  it.each([
    ['between turns', 2, 'u a | u a'],
    ['at the previous turn, if the newest events begin in the middle of one', 1, 'u a | u a'],
    ['at the end, if no event has to stay', 0, 'u a u a |'],
    ['not after a question without an answer', 0, 'u a | u'],
    ['not inside the first turn, if the next cut between turns is near', 3, 'u a a u a'],
    ['inside the only turn, if there is no other cut', 2, 'u a a | a a'],
    ['without any user', 2, 'a a a | a a'],
    ['before a call that is answered later', 1, 'u a | u +x -x'],
    ['before a call inside the only turn', 2, 'u a | +x a -x'],
    ['before several calls in one event, one of them answered much later', 1, 'u a | u +x+y -x a a -y'],
    ['with responses out of order', 1, 'u a | u +x +y -y a -x'],
    ['with overlapping pairs', 2, 'u a | u +x u +y -x u -y a'],
    ['with a response after the user continued', 2, 'u a | u +x u a u -x a'],
    ['after a complete pair', 2, 'u +x -x a | u a'],
    ['with a second response to the same call', 1, 'u a | u +x -x u a -x'],
    ['with an open call at the end', 0, 'u a | u +x'],
    ['with an open call after which the user continued', 2, 'u a | u +x a u a u a'],
    ['before the first of two open calls', 0, 'u a | u +x u a u +y'],
    ['with an open call in the first turn', 0, 'u +x u a u a'],
    ['with an open call among the newest events', 2, 'u a u a | u +x'],
    ['with a response without a call', 2, 'u a -x a | u a'],
    ['with responses without calls only', 1, '-x -y | -z'],
    ['with a single pair only', 1, '+x -x'],
    ['with events that are not summarised, which count like others', 2, 'u a s | u a'],
  ])('finds a cut %s', (_title, keep, expected) => {
    expect(withCut(expected, cutIn(expected, keep))).toBe(expected);
  });

  it.each([
    ['between turns, if possible', 2, 'u a | u a'],
    ['inside the first turn, even if the next cut between turns is near', 3, 'u a | a u a'],
    ['inside a long turn, when a second one has just begun', 10, `u ${many(21, 'a')} | ${many(9, 'a')} u`],
    ['at the end, if no event has to stay', 0, 'u a u a |'],
    ['after a question without an answer, if no event has to stay', 0, 'u a u |'],
    ['after the only question', 0, 'u |'],
    ['before a call that is answered later', 2, 'u a | +x a -x u'],
    ['before an open call', 0, 'u | +x u a u a'],
    ['not inside a single pair', 1, '+x -x'],
    ['not among the newest events', 4, 'u a u a'],
  ])('finds a cut with force %s', (_title, keep, expected) => {
    expect(withCut(expected, cutIn(expected, keep, true))).toBe(expected);
  });

  it.each([
    ['treats an open call as pending up to the limit', MAX_PENDING_EVENTS, 2],
    ['stops treating an open call as pending after the limit', MAX_PENDING_EVENTS + 1, MAX_PENDING_EVENTS + 4],
  ])('%s', (_title, distance, expected) => {
    const events = loggedEventsOf(['u a u +x', many(MAX_PENDING_EVENTS, 'u a')].join(' '));
    const callAt = 3;
    expect(new CutPoints(events, { isWhole: true }).lastUpTo(callAt + distance)).toBe(expected);
  });

  it('keeps calls that are answered later behind the cut, at any distance', () => {
    const events = loggedEventsOf(['u a', 'u +x', many(MAX_PENDING_EVENTS, 'u a'), 'u +y u a'].join(' '));
    const cutWith = (...answeredLater: string[]): number =>
      new CutPoints(events, { isWhole: true, answeredLater: new Set(answeredLater) }).lastUpTo(events.length);
    expect(cutWith('id:x')).toBe(2);
    expect(cutWith('id:y')).toBe(events.length - 4);
    expect(cutWith()).toBe(events.length);
  });

  it('cuts a part of a log only where no earlier event can contain a better cut', () => {
    const part = loggedEventsOf('a u a -x u a u a');
    expect(new CutPoints(part, { isWhole: false }).lastUpTo(6)).toBe(6);
    expect(new CutPoints(part, { isWhole: false }).lastUpTo(3)).toBe(0);
    expect(new CutPoints(part, { isWhole: true }).lastUpTo(3)).toBe(1);
    expect(new CutPoints(loggedEventsOf('a a a a'), { isWhole: false }).lastUpTo(2)).toBe(0);
  });

  it('never cuts between a call and its response or among the newest events, and prefers cuts between turns', () => {
    const word = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('u', 'a', 's') },
      { weight: 3, arbitrary: fc.tuple(fc.constantFrom('+', '-'), fc.constantFrom('w', 'x', 'y', 'z')) },
    );
    const logs = fc.array(word, { maxLength: 40 }).map((words) => words.map((one) => [one].flat().join('')).join(' '));
    fc.assert(
      fc.property(logs, fc.nat(12), fc.boolean(), (log, keep, isForced) => {
        const events = loggedEventsOf(log);
        const place = cutIn(log, keep, isForced);
        expect(place).toBeLessThanOrEqual(Math.max(0, events.length - keep));
        if (place === 0) {
          if (isForced) expect(firstSafePlace(events, events.length - keep)).toBeUndefined();
          return;
        }
        expect(isTornAt(events, place)).toBe(false);
        const isTurn = (at: number): boolean => {
          const next = events[at];
          return next !== undefined && isAnchor(next) && !isTornAt(events, at);
        };
        const better = events.findIndex((_event, at) => at > 0 && at <= place && isTurn(at));
        const isAtTurn = place === events.length || isTurn(place);
        expect(isAtTurn || better < 0).toBe(true);
      }),
      { ...searching, numRuns: runsOr(2_000) },
    );
  });
});
