import { stackOf, toErrorMessage } from '../../src/sessions/domain/errors/thrown-text.js';

const fail = (): never => {
  throw new Error('not to be looked at');
};

/** What an app, or a library of it, may throw. */
const THROWN: readonly (readonly [title: string, thrown: unknown, said: string])[] = [
  ['an error', new Error('too long'), 'too long'],
  ['an error without a message', Object.assign(new Error('x'), { message: undefined }), 'Error'],
  ['an error whose message is an object', Object.assign(new Error('x'), { message: { code: 7 } }), '{ code: 7 }'],
  [
    'an error that fails when it is read',
    Object.defineProperty(new Error('x'), 'message', { get: fail }),
    'cannot be read',
  ],
  ['a text', 'quota exceeded', 'quota exceeded'],
  ['an object', { reason: 'quota' }, "{ reason: 'quota' }"],
  ['an object without a prototype', Object.create(null), '[Object: null prototype] {}'],
  ['an object that has no text', { toString: fail }, '{ toString: [Function: fail] }'],
  ['a proxy that refuses everything', new Proxy({}, { get: fail, getPrototypeOf: fail }), 'cannot be read'],
  ['a symbol', Symbol('quota'), 'Symbol(quota)'],
  ['null', null, 'null'],
  ['nothing', undefined, 'undefined'],
];

describe('What was thrown', () => {
  it.each(THROWN)('is said in a message: %s', (_title, thrown, said) => {
    expect(toErrorMessage(thrown)).toContain(said);
  });

  it.each(THROWN)('has a place in the log: %s', (_title, thrown) => {
    expect(stackOf(thrown)).toMatch(/\S/);
  });
});
