import { inspect } from 'node:util';
import { State, StatePrefix } from '../../src/index.js';
import { trackedValuesOf } from '../../src/state/state.js';

const METHODS = ['get', 'set', 'has', 'delete', 'update', 'getAll', 'toRecord', 'hasDelta', 'toJSON'];

describe('the methods of State', () => {
  it('get returns the value, and the fallback only if the key is not set', () => {
    const state = new State({ topic: 'billing', nothing: null, no: false });
    expect(state.get('topic')).toBe('billing');
    expect(state.get('topic', 'other')).toBe('billing');
    expect(state.get('missing')).toBeUndefined();
    expect(state.get('missing', 'n/a')).toBe('n/a');
    expect(state.get('nothing', 'n/a')).toBeNull();
    expect(state.get('no', true)).toBe(false);
  });

  it('set, has and delete change and check single keys', () => {
    const state = new State({ a: 1 });
    state.set('b', null);
    expect([state.has('a'), state.has('b'), state.has('c')]).toEqual([true, true, false]);
    expect([state.delete('a'), state.delete('a'), state.delete('never')]).toEqual([true, false, false]);
    expect(state.toRecord()).toEqual({ b: null });
  });

  it('set and update delete a key if the value is undefined', () => {
    const state = new State({ a: 1 });
    state.set('a', undefined);
    state.update({ b: undefined, c: 1 });
    expect(state.toRecord()).toEqual({ c: 1 });
    expect(state.has('a')).toBe(false);
  });

  it('update sets many keys at once', () => {
    const state = new State({ a: 1, b: 1 });
    state.update({ b: 2, c: 3 });
    expect(state.getAll()).toEqual({ a: 1, b: 2, c: 3 });
  });

  it('getAll, toRecord and toJSON return copies', () => {
    const state = new State({ a: 1 });
    for (const record of [state.getAll(), state.toRecord(), state.toJSON()]) {
      record.a = 2;
      record.b = 2;
    }
    expect(state.toRecord()).toEqual({ a: 1 });
  });

  it('the constructor copies the initial object', () => {
    const initial: Record<string, unknown> = { a: 1 };
    const state = new State(initial);
    initial.a = 2;
    state.set('b', 1);
    expect(state.get('a')).toBe(1);
    expect(initial).toEqual({ a: 2 });
  });

  it('the prefixes of the scopes are constants', () => {
    expect([State.APP_PREFIX, State.USER_PREFIX, State.TEMP_PREFIX]).toEqual(['app:', 'user:', 'temp:']);
    expect(StatePrefix).toEqual({ APP_PREFIX: 'app:', USER_PREFIX: 'user:', TEMP_PREFIX: 'temp:' });
  });

  it('throw a TypeError if they are called on another object', () => {
    expect(() => Reflect.apply(State.prototype.getAll, {}, [])).toThrow(TypeError);
  });
});

describe('State used as a plain object', () => {
  it('reads, sets and deletes properties', () => {
    const state = new State({ topic: 'billing' });
    state['user:theme'] = 'dark';
    state.step = 1;
    delete state.topic;
    expect(state['user:theme']).toBe('dark');
    expect(state.step).toBe(1);
    expect(state.topic).toBeUndefined();
    expect(state.toRecord()).toEqual({ 'user:theme': 'dark', step: 1 });
  });

  it('supports `in` and hasOwn for its keys only', () => {
    const state = new State({ a: null });
    expect(['a' in state, 'b' in state, 'get' in state, 'toString' in state]).toEqual([true, false, false, false]);
    expect([Object.hasOwn(state, 'a'), Object.hasOwn(state, 'get')]).toEqual([true, false]);
    delete state.a;
    expect('a' in state).toBe(false);
  });

  it('lists its keys in insertion order', () => {
    const state = new State({ z: 1, a: 2 });
    state.m = 3;
    state.z = 4;
    expect(Object.keys(state)).toEqual(['z', 'a', 'm']);
    expect(Object.entries(state)).toEqual([
      ['z', 4],
      ['a', 2],
      ['m', 3],
    ]);
    const looped: string[] = [];
    for (const key in state) looped.push(key);
    expect(looped).toEqual(['z', 'a', 'm']);
  });

  it('can be spread, copied and written as JSON', () => {
    const state = new State({ a: 1, gone: 1 });
    state.b = [2];
    delete state.gone;
    expect({ ...state }).toEqual({ a: 1, b: [2] });
    expect(Object.assign({}, state)).toEqual({ a: 1, b: [2] });
    expect(JSON.stringify({ state })).toBe('{"state":{"a":1,"b":[2]}}');
    expect(inspect(state)).toBe('{ a: 1, b: [ 2 ] }');
  });

  it('supports all kinds of assignment', () => {
    const state = new State();
    Object.assign(state, { a: 1 });
    Object.defineProperty(state, 'b', { value: 2 });
    Reflect.set(state, 'c', 3);
    expect(state.toRecord()).toEqual({ a: 1, b: 2, c: 3 });
    expect(trackedValuesOf(state).pending().stateDelta).toEqual({ a: 1, b: 2, c: 3 });
  });

  it('refuses a new prototype, freezing, accessors and symbols', () => {
    const state = new State({ a: 1 });
    expect(state).toBeInstanceOf(State);
    expect(() => Object.setPrototypeOf(state, null)).toThrow(TypeError);
    expect(() => Object.freeze(state)).toThrow(TypeError);
    expect(() => Object.defineProperty(state, 'a', { get: () => 2 })).toThrow(TypeError);
    expect(Reflect.set(state, Symbol('s'), 1)).toBe(false);
    expect(state.toRecord()).toEqual({ a: 1 });
  });

  it('inherits the methods of Object.prototype', () => {
    const state = new State({ a: 1 });
    expect(Object.prototype.toString.call(state)).toBe('[object Object]');
    expect(state.isPrototypeOf).toBe(Object.prototype.isPrototypeOf);
    expect(Object.prototype.hasOwnProperty.call(state, 'a')).toBe(true);
  });
});

describe('State with keys that are names of methods or of object properties', () => {
  it.each(METHODS)('%s stays a method and can also be a key', (name) => {
    const state = new State(Object.fromEntries([[name, 'loaded']]));
    const method: unknown = state[name];
    expect(typeof method).toBe('function');
    expect(state.get(name)).toBe('loaded');
    state[name] = 'set';
    expect(state[name]).toBe(method);
    expect(state.get(name)).toBe('set');
    expect(state.has(name)).toBe(true);
    expect(Object.entries(state.toRecord())).toEqual([[name, 'set']]);
    expect(JSON.stringify(state)).toBe(`{"${name}":"set"}`);
    expect(state.delete(name)).toBe(true);
    expect(state.toRecord()).toEqual({});
  });

  it.each(['toString', 'hasOwnProperty', 'valueOf', 'isPrototypeOf', 'prototype', 'then'])(
    '%s is an ordinary key',
    (name) => {
      const state = new State();
      expect(state.get(name)).toBeUndefined();
      expect(state.has(name)).toBe(false);
      state[name] = 'set';
      expect(state[name]).toBe('set');
      delete state[name];
      expect(state.get(name)).toBeUndefined();
    },
  );

  it('__proto__ is an ordinary key and changes no prototype', () => {
    const state = new State(JSON.parse('{"__proto__":{"polluted":1}}') as Record<string, unknown>);
    expect(Object.keys(state)).toEqual(['__proto__']);
    expect(state.get('__proto__')).toEqual({ polluted: 1 });
    expect(state.polluted).toBeUndefined();
    state.set('__proto__', { polluted: 2 });
    state['__proto__'] = { polluted: 3 };
    expect(state['__proto__']).toEqual({ polluted: 3 });
    expect(state).toBeInstanceOf(State);
    expect(JSON.stringify(state)).toBe('{"__proto__":{"polluted":3}}');
    state.delete('__proto__');
    expect(state['__proto__']).toBeUndefined();
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('unsaved changes of State', () => {
  it('are empty after loading', () => {
    const state = new State({ a: 1 });
    expect(state.hasDelta()).toBe(false);
    expect(trackedValuesOf(state).pending()).toEqual({ stateDelta: {}, stateRemovals: [] });
  });

  it('list set and deleted keys separately', () => {
    const state = new State({ a: 1, b: 1, c: 1 });
    state.a = 2;
    state.d = 2;
    delete state.b;
    expect(state.hasDelta()).toBe(true);
    expect(trackedValuesOf(state).pending()).toEqual({ stateDelta: { a: 2, d: 2 }, stateRemovals: ['b'] });
  });

  it('include a key that is set to its current value, but not the deletion of a missing key', () => {
    const state = new State({ a: 1 });
    state.delete('never');
    expect(state.hasDelta()).toBe(false);
    state.set('a', 1);
    expect(trackedValuesOf(state).pending()).toEqual({ stateDelta: { a: 1 }, stateRemovals: [] });
  });

  it('are empty if a new key is deleted again', () => {
    const state = new State();
    state.draft = 1;
    delete state.draft;
    expect(state.hasDelta()).toBe(false);
  });

  it('contain the value of a key that was deleted and set again', () => {
    const state = new State({ a: 1 });
    delete state.a;
    state.a = 2;
    expect(trackedValuesOf(state).pending()).toEqual({ stateDelta: { a: 2 }, stateRemovals: [] });
  });

  it('take precedence over newly stored values', () => {
    const state = new State({ a: 1, b: 1, c: 1, d: 1 });
    state.a = 'mine';
    delete state.b;
    trackedValuesOf(state).applyStored({ stateDelta: { a: 2, b: 2, c: 2, e: 2 }, stateRemovals: ['d'] });
    expect(state.toRecord()).toEqual({ a: 'mine', c: 2, e: 2 });
    expect(trackedValuesOf(state).pending()).toEqual({ stateDelta: { a: 'mine' }, stateRemovals: ['b'] });
  });

  it('remain when their key is removed from the stored state', () => {
    const state = new State({ a: 1 });
    state.a = 'mine';
    trackedValuesOf(state).applyStored({ stateDelta: {}, stateRemovals: ['a'] });
    expect(state.get('a')).toBe('mine');
    delete state.a;
    expect(state.has('a')).toBe(false);
  });

  it('shrink by what was saved, and keep changes made during the save', () => {
    const state = new State({ a: 1, gone: 1, back: 1 });
    const values = trackedValuesOf(state);
    state.update({ a: 2, b: 2, dropped: 2 });
    delete state.gone;
    delete state.back;
    const saved = values.pending();
    state.b = 3;
    state.back = 3;
    delete state.dropped;
    values.applyStored(saved);
    values.markSaved(saved);
    expect(state.toRecord()).toEqual({ a: 2, b: 3, back: 3 });
    expect(values.pending()).toEqual({ stateDelta: { b: 3, back: 3 }, stateRemovals: ['dropped'] });
  });

  it('are empty after two concurrent saves of the same changes', () => {
    const state = new State();
    const values = trackedValuesOf(state);
    state.a = 1;
    const [first, second] = [values.pending(), values.pending()];
    for (const saved of [first, second]) {
      values.applyStored(saved);
      values.markSaved(saved);
    }
    expect(state.toRecord()).toEqual({ a: 1 });
    expect(state.hasDelta()).toBe(false);
  });

  it('include a value that was set again during its save', () => {
    const state = new State();
    const values = trackedValuesOf(state);
    const cart = { items: 1 };
    state.cart = cart;
    const saved = values.pending();
    cart.items = 2;
    state.cart = cart;
    values.applyStored({ stateDelta: { cart: { items: 1 } }, stateRemovals: [] });
    values.markSaved(saved);
    expect(values.pending()).toEqual({ stateDelta: { cart: { items: 2 } }, stateRemovals: [] });
  });

  it('include the removal of a new key that was deleted, set and deleted again during its save', () => {
    const state = new State();
    const values = trackedValuesOf(state);
    state.draft = 1;
    const saved = values.pending();
    delete state.draft;
    state.draft = 2;
    delete state.draft;
    values.applyStored(saved);
    values.markSaved(saved);
    expect(state.has('draft')).toBe(false);
    expect(values.pending()).toEqual({ stateDelta: {}, stateRemovals: ['draft'] });
  });

  it.each(['in order', 'in reverse order'])(
    'include the removal of a key after two saves, one that removes and one that sets it: %s',
    (order) => {
      const state = new State({ k: 0 });
      const values = trackedValuesOf(state);
      delete state.k;
      const removal = values.pending();
      state.k = 1;
      const setting = values.pending();
      delete state.k;
      const inOrder = order === 'in order';
      for (const saved of inOrder ? [removal, setting] : [setting, removal]) {
        // If two responses arrive in the wrong order, the older one is not applied.
        if (inOrder || saved === setting) values.applyStored(saved);
        values.markSaved(saved);
      }
      expect(state.has('k')).toBe(false);
      expect(values.pending()).toEqual({ stateDelta: {}, stateRemovals: ['k'] });
    },
  );
});
