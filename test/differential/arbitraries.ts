import fc from 'fast-check';
import { eventDrafts } from './event-arbitraries.js';
import type { ModelSettings } from './model/settings.js';
import type { Append, Expectation, Operation, Target, TurnChoice, Variation } from './operations.js';
import { changes, delta, filter, metadata, rarely, sessionKey, someChanges } from './value-arbitraries.js';

const object = fc.nat({ max: 30 });
const place = fc.nat({ max: 999 });
const limit = fc.integer({ min: 1, max: 4 });
const order = fc.constantFrom('asc', 'desc');

const target: fc.Arbitrary<Target> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ object }) },
  { weight: 1, arbitrary: fc.record({ key: sessionKey }) },
);
const expected: fc.Arbitrary<Expectation> = fc.oneof(
  { weight: 4, arbitrary: fc.constant('anything' as const) },
  { weight: 1, arbitrary: fc.constant('as loaded' as const) },
  { weight: 1, arbitrary: fc.integer({ min: -2, max: 1 }) },
);

/** Mostly the turn that its session had last, so that many writes are accepted. */
const turn = rarely<TurnChoice>(
  fc.record({
    which: fc.oneof({ weight: 3, arbitrary: fc.constant('last' as const) }, { weight: 1, arbitrary: object }),
    ends: fc.nat({ max: 3 }).map((rarity) => rarity === 0),
  }),
  2,
);
const lifeOfTurn = fc.constantFrom(100, 1_000, 5_000, 20_000);

const append = fc.record({ kind: fc.constant('append' as const), target, event: eventDrafts(40_000), expected, turn });
const controls = {
  summary: fc.record({ summary: fc.tuple(place, place) }),
  rewind: fc.record({ rewind: place }),
};
/** Summaries have the author `system`, so they do not count as turns. */
const summary: fc.Arbitrary<Append> = fc
  .tuple(append, controls.summary, fc.nat({ max: 9 }))
  .map(([base, control, rarity]) => ({
    ...base,
    control,
    event: { ...base.event, author: 'system', ...(rarity > 0 && { delta: [], removals: [], metadata: undefined }) },
  }));
const rewind: fc.Arbitrary<Append> = fc
  .tuple(append, controls.rewind)
  .map(([base, control]) => ({ ...base, control, event: { ...base.event, author: 'system' } }));

const variation = fc.constantFrom<Variation>(
  'same',
  'as returned',
  'without timestamp',
  'with another timestamp',
  'with other temp keys',
  'with other content',
);
const batch = fc.record({
  kind: fc.constant('append batch' as const),
  target,
  events: fc.array(eventDrafts(40_000), { maxLength: 6 }),
  control: rarely(fc.oneof(controls.summary, controls.rewind), 20),
  expected,
  turn,
});
/** Mostly of events that were appended before, with nothing new among them. */
const repeatedBatch = fc.record({
  kind: fc.constant('repeat batch' as const),
  target,
  place,
  count: fc.integer({ min: 1, max: 5 }),
  variation,
  inOrder: fc.nat({ max: 3 }).map((rarity) => rarity > 0),
  another: rarely(eventDrafts(40_000), 4),
  expected,
  turn,
});

const create = fc.record({
  kind: fc.constantFrom('create' as const, 'get or create' as const),
  key: sessionKey,
  isBlank: fc.nat({ max: 9 }).map((rarity) => rarity === 0),
  state: delta,
  turnsOnly: rarely(fc.constant(true as const), 6),
  metadata: rarely(metadata, 3),
});

/** Mostly with a new id. */
const fork = fc.record({
  kind: fc.constant('fork' as const),
  key: sessionKey,
  newKey: sessionKey,
  isBlank: fc.nat({ max: 2 }).map((rarity) => rarity === 0),
  atSeq: rarely(place, 2),
});

const config = fc.record({ numRecentEvents: fc.nat({ max: 6 }), afterSeq: place, since: place }, { requiredKeys: [] });

const time = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 900 }) },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 5 }).map((seconds) => seconds * 1_000) },
  { weight: 1, arbitrary: fc.integer({ min: 10, max: 40 }).map((seconds) => seconds * 1_000) },
  { weight: 2, arbitrary: fc.integer({ min: -500, max: -1 }) },
);

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 6, arbitrary: create },
  { weight: 4, arbitrary: fork },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('get' as const),
      key: sessionKey,
      config: rarely(config, 2),
    }),
  },
  { weight: 30, arbitrary: append },
  { weight: 3, arbitrary: summary },
  { weight: 3, arbitrary: rewind },
  {
    weight: 7,
    arbitrary: fc.record({
      kind: fc.constant('repeat' as const),
      target,
      place,
      variation,
      expected,
      turn,
    }),
  },
  { weight: 10, arbitrary: batch },
  { weight: 5, arbitrary: repeatedBatch },
  {
    weight: 3,
    arbitrary: fc.tuple(object, changes).map(([at, what]) => ({ kind: 'change state' as const, object: at, ...what })),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('update session' as const), object, expected, turn }) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom(['shop'], ['a'], ['shop', 'ann'], ['shop', '__proto__'], ['a', 'b:c']), someChanges)
      .map(([owner, what]) => ({ kind: 'shared state' as const, owner, ...what })),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('list sessions' as const),
      appName: fc.constantFrom('shop', 'shop', 'a', 'a:b'),
      userId: fc.constantFrom(undefined, 'ann', 'b:c'),
      limit,
      order,
      orderBy: fc.constantFrom('lastUpdateTime', 'createTime'),
      byPage: fc.boolean(),
      filter: rarely(filter, 2),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('list events' as const),
      key: sessionKey,
      afterSeq: rarely(place, 3),
      beforeSeq: rarely(place, 3),
      limit,
      order,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), key: sessionKey }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('begin turn' as const),
      key: sessionKey,
      holder: fc.constantFrom('one', 'two', '__proto__'),
      requestId: rarely(fc.constantFrom('job', 'job:{1}'), 3),
      ttlMs: lifeOfTurn,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('renew turn' as const, 'end turn' as const),
      which: object,
      ttlMs: lifeOfTurn,
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('pass time' as const), ms: time }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('wait for an end' as const),
      which: object,
      early: fc.constantFrom(0, 0, 1),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('purge' as const), batchSize: fc.integer({ min: 1, max: 3 }) }),
  },
);

/** A create operation, then `length` operations on average. Short sequences shrink best. */
export function operationsOf(length: number): fc.Arbitrary<Operation[]> {
  const rest = fc.array(operation, { maxLength: 2 * length, size: 'max' });
  return fc.tuple(create, rest).map((operations) => operations.flat());
}

const offOr = (...choices: number[]) => fc.constantFrom(0, ...choices);

export const settings: fc.Arbitrary<ModelSettings> = fc.record({
  maxEvents: offOr(1, 2, 3, 5, 8),
  numRecentEvents: offOr(0, 1, 2, 4),
  eventTtlSeconds: offOr(0, 5, 30),
  ttl: fc.record({
    enabled: fc.constantFrom(true, true, true, false),
    sessionSeconds: offOr(10, 10, 40),
    userStateSeconds: offOr(7, 7, 30),
    appStateSeconds: offOr(9, 9, 50),
    refreshOnRead: fc.constantFrom(true, true, false),
  }),
});
