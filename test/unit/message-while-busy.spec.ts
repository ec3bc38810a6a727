import { type MessagePlace, type Sight, type Step, decideStep } from '../../src/agents/ask/message-while-busy.js';
import { RUN_POLICIES, type RunPolicy } from '../../src/agents/turn/run-policy.js';

const PLACES: readonly MessagePlace[] = ['new', 'queued', 'orphaned', 'stored'];
const WAITING = ['enqueue', 'interrupt', 'rollback', 'merge'] as const;
const ANY = RUN_POLICIES;

/** What is seen, where the message is, with which policies, and what the request does. */
const TABLE: readonly (readonly [Sight, MessagePlace, readonly RunPolicy[], Step])[] = [
  // It begins: only a message that waits for quiet does not try first.
  ['begins', 'new', ['reject'], 'try'],
  ['begins', 'new', ['debounce'], 'enqueue'],
  ['begins', 'new', WAITING, 'try'],
  ['begins', 'queued', ANY, 'wait'],
  ['begins', 'orphaned', ANY, 'try'],
  ['begins', 'stored', ANY, 'try'],
  // The turn is held: an answer to an approval never gets into the queue.
  ['held', 'new', ['reject'], 'refuse'],
  ['held', 'new', ['debounce'], 'enqueue'],
  ['held', 'new', WAITING, 'enqueue'],
  ['held', 'queued', ANY, 'wait'],
  ['held', 'orphaned', ANY, 'pause'],
  ['held', 'stored', ['reject'], 'refuse'],
  ['held', 'stored', [...WAITING, 'debounce'], 'pause'],
  // The turn is free, and others were there before: who does not wait in the queue answers them first.
  ['behind', 'new', ['reject'], 'stand in'],
  ['behind', 'new', ['debounce'], 'enqueue'],
  ['behind', 'new', WAITING, 'enqueue'],
  ['behind', 'queued', ANY, 'wait'],
  ['behind', 'orphaned', ANY, 'pause'],
  ['behind', 'stored', ANY, 'stand in'],
  // Whose turn it was has left it.
  ['left', 'new', ANY, 'try'],
  ['left', 'queued', ANY, 'wait'],
  ['left', 'orphaned', ANY, 'try'],
  ['left', 'stored', ANY, 'pause'],
  // It has answered another one, which may have failed.
  ['ran', 'new', ANY, 'back off'],
  ['ran', 'queued', ANY, 'wait'],
  ['ran', 'orphaned', ANY, 'back off'],
  ['ran', 'stored', ANY, 'back off'],
  // There was none to answer.
  ['alone', 'new', ANY, 'back off'],
  ['alone', 'queued', ANY, 'try'],
  ['alone', 'orphaned', ANY, 'back off'],
  ['alone', 'stored', ANY, 'pause'],
  // The same, wherever the message is.
  ...PLACES.flatMap((place) => [
    ['enqueued', place, ANY, 'wait'] as const,
    ['first', place, ANY, 'try'] as const,
    ['overdue', place, ANY, 'stand in'] as const,
    ['taken', place, ANY, 'follow'] as const,
    ['paused', place, ANY, 'try'] as const,
    ['withdrawn', place, ANY, 'end'] as const,
    ['aborted', place, ANY, 'end'] as const,
  ]),
];

const lines = TABLE.flatMap(([sight, place, policies, step]) =>
  policies.map((policy) => [sight, place, policy, step] as const),
);

describe('What a request does next', () => {
  it.each(lines)('%s, %s, %s: %s', (sight, place, policy, step) => {
    expect(decideStep(sight, place, policy)).toBe(step);
  });

  it('is said for each sight, place and policy once', () => {
    const sights = new Set(lines.map(([sight]) => sight));
    const all = [...sights].flatMap((sight) =>
      PLACES.flatMap((place) => RUN_POLICIES.map((policy) => [sight, place, policy].join())),
    );
    expect(lines.map(([sight, place, policy]) => [sight, place, policy].join()).toSorted()).toEqual(all.toSorted());
  });

  it('never tries again at once while somebody has the turn, or is before it', () => {
    for (const sight of ['held', 'behind'] as const) {
      const steps = PLACES.flatMap((place) => RUN_POLICIES.map((policy) => decideStep(sight, place, policy)));
      expect(steps).not.toContain('try');
    }
  });
});
