import fc from 'fast-check';
import { isAnchor } from '../../src/sessions/domain/event-inspection.js';
import { CutPlaces, PATIENCE } from '../../src/summarizer/conversation/cut-places.js';
import { runsOr, searching } from '../differential/runs.js';
import { isTornAt, loggedEventsOf, withCut } from './short-logs.js';

function placeIn(log: string, keep: number): number {
  const events = loggedEventsOf(log);
  return new CutPlaces(events, { isWhole: true }).lastUpTo(events.length - keep);
}

const many = (count: number, word: string): string => Array.from({ length: count }, () => word).join(' ');

describe('where a conversation is cut', () => {
  // Each with the newest events that stay at least, and where the cut is; without a cut it is left alone.
  it.each([
    ['between turns', 2, 'u a | u a'],
    ['at the turn before, where the newest begin in the middle of one', 1, 'u a | u a'],
    ['at the end, when everything may go', 0, 'u a u a |'],
    ['not behind a question that has no answer', 0, 'u a | u'],
    ['nowhere inside the first turn, while a second one is about to come', 3, 'u a a u a'],
    ['inside the only turn, where there is no other place', 2, 'u a a | a a'],
    ['without any user', 2, 'a a a | a a'],
    ['in front of a call that is answered beyond', 1, 'u a | u +x -x'],
    ['in front of a call inside the only turn', 2, 'u a | +x a -x'],
    ['in front of calls in one event, one of them answered far away', 1, 'u a | u +x+y -x a a -y'],
    ['answers out of order', 1, 'u a | u +x +y -y a -x'],
    ['pairs that reach over each other', 2, 'u a | u +x u +y -x u -y a'],
    ['an answer whose call the user did not wait for', 2, 'u a | u +x u a u -x a'],
    ['behind a pair that is closed', 2, 'u +x -x a | u a'],
    ['a second answer to the same call', 1, 'u a | u +x -x u a -x'],
    ['an open call at the end', 0, 'u a | u +x'],
    ['an open call, and the user went on', 2, 'u a | u +x a u a u a'],
    ['two open calls: the first counts', 0, 'u a | u +x u a u +y'],
    ['an open call in the very first turn', 0, 'u +x u a u a'],
    ['an open call among the newest', 2, 'u a u a | u +x'],
    ['an answer without any call', 2, 'u a -x a | u a'],
    ['nothing but answers without calls', 1, '-x -y | -z'],
    ['nothing but a pair', 1, '+x -x'],
    ['events that nobody is to summarise count like others', 2, 'u a s | u a'],
  ])('%s', (_title, keep, expected) => {
    expect(withCut(expected, placeIn(expected, keep))).toBe(expected);
  });

  it.each([
    ['is waited for as long as there is patience', PATIENCE, 2],
    ['is waited for no longer', PATIENCE + 1, PATIENCE + 4],
  ])('an open call %s', (_title, distance, expected) => {
    const events = loggedEventsOf(['u a u +x', many(PATIENCE, 'u a')].join(' '));
    const callAt = 3;
    expect(new CutPlaces(events, { isWhole: true }).lastUpTo(callAt + distance)).toBe(expected);
  });

  it('calls that are answered later hold the cut however far away they are, and no others', () => {
    const events = loggedEventsOf(['u a', 'u +x', many(PATIENCE, 'u a'), 'u +y u a'].join(' '));
    const placeWith = (...answeredLater: string[]): number =>
      new CutPlaces(events, { isWhole: true, answeredLater: new Set(answeredLater) }).lastUpTo(events.length);
    expect(placeWith('id:x')).toBe(2);
    expect(placeWith('id:y')).toBe(events.length - 4);
    expect(placeWith()).toBe(events.length);
  });

  it('what may lie before a part of a log holds the cut, until it is read', () => {
    const part = loggedEventsOf('a u a -x u a u a');
    expect(new CutPlaces(part, { isWhole: false }).lastUpTo(6)).toBe(6);
    expect(new CutPlaces(part, { isWhole: false }).lastUpTo(3)).toBe(0);
    expect(new CutPlaces(part, { isWhole: true }).lastUpTo(3)).toBe(1);
    expect(new CutPlaces(loggedEventsOf('a a a a'), { isWhole: false }).lastUpTo(2)).toBe(0);
  });

  it('in any log: never between a call and its answer, the newest stay, between turns where that is possible', () => {
    const word = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('u', 'a', 's') },
      { weight: 3, arbitrary: fc.tuple(fc.constantFrom('+', '-'), fc.constantFrom('w', 'x', 'y', 'z')) },
    );
    const logs = fc.array(word, { maxLength: 40 }).map((words) => words.map((one) => [one].flat().join('')).join(' '));
    fc.assert(
      fc.property(logs, fc.nat(12), (log, keep) => {
        const events = loggedEventsOf(log);
        const place = placeIn(log, keep);
        expect(place).toBeLessThanOrEqual(Math.max(0, events.length - keep));
        if (place === 0) return;
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
