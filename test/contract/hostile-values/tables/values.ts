class Money {
  constructor(readonly amount = 1) {}
}

function cycle(): unknown {
  const value: Record<string, unknown> = {};
  value.again = [value];
  return value;
}

function nestedIn(levels: number, value: unknown): unknown {
  let nested = value;
  for (let level = 0; level < levels; level++) nested = [nested];
  return nested;
}

function withHole(): unknown[] {
  const items: unknown[] = [0];
  items[2] = 2;
  return items;
}

function withToJson(value: object): object {
  return Object.defineProperty(value, 'toJSON', { value: () => 'another value', enumerable: false });
}

const ONE_OBJECT = { shared: true };

/** Values that JSON carries, with what they are afterwards where they are normalised. */
export const LEGAL_VALUES: readonly (readonly [name: string, value: unknown, stored?: unknown])[] = [
  ['null', null],
  ['no text', ''],
  ['an empty array', []],
  ['an empty object', {}],
  ['nothing but empty things', [[], {}, [[]], { a: {} }]],
  ['the greatest number', Number.MAX_VALUE],
  ['the least number', Number.MIN_VALUE],
  ['more than whole numbers hold', 2 ** 63],
  ['a third', 1 / 3],
  ['minus zero', -0, 0],
  ['minus zero inside', { a: [-0] }, { a: [0] }],
  ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
  ['a date inside', [new Date(1.7e12)], ['2023-11-14T22:13:20.000Z']],
  ['a date that would be written otherwise', withToJson(new Date(0)), '1970-01-01T00:00:00.000Z'],
  ['undefined properties', { a: undefined, b: { c: undefined } }, { b: {} }],
  ['a property keyed by a symbol', { [Symbol('s')]: 1, a: 1 }, { a: 1 }],
  ['an object without prototype', Object.assign(Object.create(null) as object, { a: 1 }), { a: 1 }],
  ['an own __proto__', JSON.parse('{"__proto__":{"polluted":true}}')],
  ['a constructor with a prototype', { constructor: { prototype: { polluted: true } } }],
  ['names of methods', { toString: 1, hasOwnProperty: 2, valueOf: 3, toJSON: 4 }],
  ['one object twice', [ONE_OBJECT, ONE_OBJECT]],
  ['NUL in text and key', { 'a\u0000': '\u0000' }],
  ['every control character', Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join('')],
  ['line separators', '\u2028\u2029'],
  ['text from right to left', '\u202Eabc'],
  ['emoji', '👩‍👩‍👧 😀'],
  ['not normalised text', 'cafe\u0301 café'],
  ['the last code point', '\u{10FFFF}'],
  ['text of JSON', '{"a":1}'],
  ['text of SQL', "'); DELETE FROM session_events; --"],
  ['keys that look like operators', { $set: { a: 1 }, $where: '1', 'a.b': 2, '': 3 }],
  ['a sparse-looking object', { 1: 'a', 0: 'b', length: 2 }],
  ['62 levels', nestedIn(62, 1)],
  ['hundreds of kilobytes', 'é'.repeat(100_000)],
];

/** Values of the wrong kind, with the path inside the value that is refused. */
export const ILLEGAL_VALUES: readonly (readonly [name: string, value: unknown, path: string])[] = [
  ['a BigInt', 1n, ''],
  ['a BigInt inside', { a: [0, 1n] }, '.a[1]'],
  ['a function', () => 1, ''],
  ['a method', { a: { run: () => 1 } }, '.a.run'],
  ['a class', Money, ''],
  ['a symbol', Symbol('s'), ''],
  ['NaN', NaN, ''],
  ['NaN inside', [[NaN]], '[0][0]'],
  ['infinity', Infinity, ''],
  ['minus infinity', { 'a b': -Infinity }, '["a b"]'],
  ['undefined in an array', [1, undefined], '[1]'],
  ['a hole in an array', withHole(), '[1]'],
  ['a Map', new Map([['a', 1]]), ''],
  ['a Set', { tags: new Set(['a']) }, '.tags'],
  ['a WeakMap', new WeakMap(), ''],
  ['a class instance', new Money(), ''],
  ['an error', new Error('broken'), ''],
  ['a regular expression', /a/, ''],
  ['a promise', Promise.resolve(1), ''],
  ['a buffer', Buffer.from('a'), ''],
  ['a typed array', { bytes: new Uint8Array(1) }, '.bytes'],
  ['a String object', Object('a'), ''],
  ['a URL', new URL('http://localhost'), ''],
  ['an object with a prototype of its own', Object.create({ inherited: 1 }), ''],
  ['an invalid date', { at: new Date(NaN) }, '.at'],
  ['a cycle', cycle(), '.again[0]'],
  ['a lone surrogate', 'a\uD83D', ''],
  ['a lone surrogate inside', { a: ['\uDE00'] }, '.a[0]'],
  ['a key with a lone surrogate', { a: { '\uD83D': 1 } }, '.a'],
  ['an array that says what its JSON is', { a: withToJson([1]) }, '.a'],
  ['an object that says what its JSON is', { a: withToJson({ b: 1 }) }, '.a'],
];

/** Values that are too much. */
export const EXCESSIVE_VALUES: readonly (readonly [name: string, value: unknown])[] = [
  ['65 levels', nestedIn(65, 1)],
  ['100,000 levels', nestedIn(100_000, 1)],
  ['more than a mebibyte', 'x'.repeat(1_048_577)],
  ['more than a mebibyte of bytes in fewer characters', 'é'.repeat(524_289)],
  ['more than a mebibyte of items', Array.from({ length: 600_000 }, () => 1)],
];
