import fc from 'fast-check';
import type { ConsumerStart } from '../../src/sessions/consumers/consumer-settings.js';
import type { Fate } from './model/model-consumer.js';

/** A place in the list of sessions, or of consumers. */
type Place = number;

export interface Register {
  readonly kind: 'register';
  readonly consumer: Place;
  readonly apps: readonly string[] | undefined;
  readonly from: ConsumerStart;
  readonly maxTries: number;
}

export type ConsumerOperation =
  | Register
  | { readonly kind: 'create'; readonly session: Place }
  | { readonly kind: 'append'; readonly session: Place; readonly count: number }
  | { readonly kind: 'delete'; readonly session: Place }
  | { readonly kind: 'rewind'; readonly session: Place; readonly back: number }
  | { readonly kind: 'fork'; readonly session: Place; readonly back: number; readonly to: Place }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'purge' }
  | { readonly kind: 'dispatch' }
  /** `stopAfter`: the worker stops after so many events. */
  | { readonly kind: 'work'; readonly consumer: Place; readonly limit: number; readonly stopAfter: number }
  | { readonly kind: 'resolve'; readonly consumer: Place; readonly letter: number; readonly how: 'retry' | 'drop' }
  | { readonly kind: 'remove'; readonly consumer: Place }
  | { readonly kind: 'look' }
  | { readonly kind: 'drain' };

export const APPS = ['shop', 'böx'];
export const KEYS = APPS.flatMap((appName) =>
  ['s1', 's2', 's3'].map((sessionId) => ({ appName, userId: 'ann', sessionId })),
);
export const CONSUMERS = ['mail', 'index', 'hook*'];
export const SESSION_SECONDS = 6 * 3_600;

const HOUR_MS = 3_600_000;
const session = fc.nat(KEYS.length - 1);
const consumer = fc.nat(CONSUMERS.length - 1);
const of = <Kind extends string>(kind: Kind) => fc.constant(kind);

/** Sometimes about a page of a worker, which has 64 events. */
const count = fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 5 }) }, fc.integer({ min: 60, max: 70 }));

const operation: fc.Arbitrary<ConsumerOperation> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: of('create'), session }) },
  { weight: 8, arbitrary: fc.record({ kind: of('append'), session, count }) },
  { weight: 1, arbitrary: fc.record({ kind: of('delete'), session }) },
  { weight: 1, arbitrary: fc.record({ kind: of('rewind'), session, back: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ kind: of('fork'), session, back: fc.nat(3), to: session }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: of('wait'), ms: fc.constantFrom(1, 1_000, 30_000, HOUR_MS, 4 * HOUR_MS) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: of('purge') }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: of('register'),
      consumer,
      apps: fc.constantFrom(undefined, undefined, ...APPS.map((app) => [app])),
      from: fc.constantFrom<ConsumerStart[]>('now', 'start'),
      maxTries: fc.integer({ min: 2, max: 3 }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: of('dispatch') }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: of('work'),
      consumer,
      limit: fc.integer({ min: 1, max: 3 }),
      stopAfter: fc.constantFrom(1, 3, Infinity, Infinity, Infinity),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: of('resolve'),
      consumer,
      letter: fc.nat(3),
      how: fc.constantFrom<('retry' | 'drop')[]>('retry', 'retry', 'drop'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: of('remove'), consumer }) },
  { weight: 2, arbitrary: fc.record({ kind: of('look') }) },
  { weight: 1, arbitrary: fc.record({ kind: of('drain') }) },
);

const times = fc.constantFrom(1, 2, 4, Infinity);

const fate: fc.Arbitrary<Fate> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: of('works') }) },
  { weight: 3, arbitrary: fc.record({ kind: of('throws'), times }) },
  { weight: 2, arbitrary: fc.record({ kind: of('crashes'), times }) },
  { weight: 1, arbitrary: fc.record({ kind: of('overtaken') }) },
);

/** Events get these fates in turn. */
export const fates = fc.array(fate, { minLength: 1, maxLength: 12 });

export function consumerOperations(length: number): fc.Arbitrary<ConsumerOperation[]> {
  return fc.array(operation, { maxLength: 2 * length, size: 'max' });
}
