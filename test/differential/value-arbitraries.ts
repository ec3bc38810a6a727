import fc from 'fast-check';
import type { MetadataDelta, SessionFilter, SessionMetadataInput } from '../../src/index.js';
import type { ModelKey } from './model/model-session.js';
import type { Pairs } from './operations.js';

/** Mostly `undefined`; a value once in `times` cases. */
export function rarely<T>(arbitrary: fc.Arbitrary<T>, times: number): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: times - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}

const KEYS: readonly ModelKey[] = [
  ...Array.from({ length: 15 }, () => ({ appName: 'shop', userId: 'ann', sessionId: 's' })),
  { appName: 'shop', userId: 'ann', sessionId: '__proto__' },
  // The order of these two differs between UTF-16 and bytes.
  { appName: 'shop', userId: 'ann', sessionId: '😀' },
  { appName: 'shop', userId: 'ann', sessionId: '～' },
  { appName: 'shop', userId: '{x}', sessionId: 's' },
  { appName: 'shop', userId: '__proto__', sessionId: 'a:b' },
  { appName: 'a', userId: 'b:c', sessionId: 'd' },
  { appName: 'a:b', userId: 'c', sessionId: 'd' },
];

export const sessionKey = fc.constantFrom(...KEYS);

const stateKey = fc.constantFrom('a', 'b', 'user:a', 'app:a', 'temp:a', '__proto__', 'user:__proto__', 'app:user:');
export const value = fc.constantFrom<unknown[]>(
  null,
  0,
  -0,
  1.5,
  '',
  'text',
  'nul \u0000',
  [],
  {},
  { list: [], nested: { z: 1, a: 2 } },
  new Date(1e12),
  JSON.parse('{"__proto__":{"polluted":true},"constructor":1}'),
);
export const delta: fc.Arbitrary<Pairs> = fc.array(fc.tuple(stateKey, value), { maxLength: 3 });
const removals = fc.array(stateKey, { maxLength: 2 });
/** Mostly valid. Rarely, a key is both set and removed, or has no name after its prefix. */
export const changes = fc.tuple(delta, removals, fc.nat({ max: 19 })).map(([set, removed, rarity]) => ({
  delta: rarity === 0 ? [...set, ['user:', 1] as const] : set,
  removals: rarity === 1 ? removed : removed.filter((name) => !set.some(([other]) => other === name)),
}));
const noChanges = fc.constant({ delta: [], removals: [] });
export const someChanges = fc.oneof({ weight: 2, arbitrary: noChanges }, { weight: 1, arbitrary: changes });

const UNUSUAL = JSON.parse('{"__proto__":{"polluted":true},"z":1,"a":[]}') as Record<string, unknown>;
const UNUSUAL_LABELS = JSON.parse('{"__proto__":"x","a:b":"y"}') as Record<string, string>;

export const metadata = fc.constantFrom<SessionMetadataInput[]>(
  { title: 'A' },
  { status: 'open', tags: ['é', 'a:b', 'é'] },
  { labels: UNUSUAL_LABELS, fields: UNUSUAL },
);

/** The last one is refused. */
export const metadataDelta = fc.constantFrom<MetadataDelta[]>(
  { title: 'A' },
  { title: 'B\n', status: 'open' },
  { title: null },
  { title: 'C', status: null },
  { tags: { add: ['é', 'a:b'] } },
  { tags: { add: ['e\u0301'], remove: ['a:b', 'é'] } },
  { labels: UNUSUAL_LABELS },
  { labels: { 'a:b': null, a: '😀' } },
  { fields: UNUSUAL },
  { fields: { z: null }, fieldRemovals: ['a', '__proto__'] },
  { fields: { a: 1 }, fieldRemovals: ['a'] },
);

export const filter = fc.constantFrom<SessionFilter[]>(
  { status: 'open' },
  { tags: ['é'] },
  { tags: ['a:b', 'é'], status: 'open' },
  { labels: { 'a:b': 'y' } },
  { labels: UNUSUAL_LABELS },
);
