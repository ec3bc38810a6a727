import fc from 'fast-check';
import {
  ComponentConflictError,
  ComponentSession,
  type ComponentWrite,
  InMemoryComponentStore,
  JsonFileComponentStore,
} from '../../src/components/index.js';
import { InvalidInputError } from '../../src/sessions/domain/errors/errors.js';
import { compareBytes } from '../../src/sessions/domain/values/ids.js';
import { runsOr } from '../differential/runs.js';
import { componentStores, destroyAfterEach } from './support/stores.js';

destroyAfterEach();

const HOSTILE = [
  [
    ':',
    'a:b',
    'a:b:c',
    '{',
    '{}',
    '{a}',
    '}{',
    '*',
    'a*',
    '?',
    '[a]',
    '|',
    '%',
    '%7B',
    '_',
    "'",
    '"',
    ';--',
    '`',
    '\\',
  ],
  ['A', 'a', 'ä', 'a\u0308', 'ß', 'a ', ' a', 'a\nb', '\u{1F600}', '__proto__', 'component', 'x'.repeat(1_024)],
].flat();

describe.each(componentStores())('Component sessions in $name', ({ open }) => {
  it('keep values and lists of a name apart, byte for byte', async () => {
    const { components } = await open();
    const value = { text: 'ä\u2028\n"quoted"', 'a.b': [1, null, { deep: true }], __proto: 1 };
    expect(await components.save('s', 'k', value)).toBe(1);
    expect(await components.saveList('s', 'k', [value, 'two', 3])).toBe(1);
    expect(await components.get('s', 'k')).toEqual(value);
    expect(await components.getList('s', 'k')).toEqual([value, 'two', 3]);
    expect(await components.listNames('s')).toEqual(['k']);
    expect([await components.get('s', 'other'), await components.getList('s', 'other')]).toEqual([undefined, []]);
    expect(await components.getVersioned('t', 'k')).toEqual({ value: undefined, version: 0 });
  });

  it('take a version for what was loaded, and say which one is stored', async () => {
    const { components } = await open();
    expect(await components.save('s', 'k', 1, { version: 0 })).toBe(1);
    await expect(components.save('s', 'k', 2, { version: 0 })).rejects.toMatchObject({
      code: 'COMPONENT_CONFLICT',
      expectedVersion: 0,
      currentVersion: 1,
    });
    expect(await components.save('s', 'k', 2, { version: 1 })).toBe(2);
    expect(await components.save('s', 'k', 3)).toBe(3);
    expect(await components.save('s', 'k', 4, { version: 1, onConflict: 'overwrite' })).toBe(4);
    expect(await components.getVersioned('s', 'k')).toEqual({ value: 4, version: 4 });
  });

  it('write only what is new at the end of a list, and notice a change anywhere', async () => {
    const { components, store } = await open();
    const write = jest.spyOn(store, 'write');
    const written = (): Pick<ComponentWrite, 'keep' | 'texts'>[] =>
      write.mock.calls.splice(0).map(([{ keep, texts }]) => ({ keep, texts }));
    const items = Array.from({ length: 20 }, (_, index) => ({ index }));
    await components.saveList('s', 'k', items);
    written();
    expect(await components.saveList('s', 'k', items)).toBe(1);
    expect(written()).toEqual([]);
    await components.saveList('s', 'k', [...items, 'new', 'newer']);
    expect(written()).toEqual([{ keep: 20, texts: ['"new"', '"newer"'] }]);
    for (const place of [0, 7, 13, 21]) {
      const changed: unknown[] = [...items, 'new', 'newer'];
      changed[place] = 'edited';
      await components.saveList('s', 'k', changed);
      expect(written()).toMatchObject([{ keep: 0 }]);
      expect(await components.getList('s', 'k')).toEqual(changed);
      await components.saveList('s', 'k', [...items, 'new', 'newer']);
      written();
    }
    await components.saveList('s', 'k', items.slice(0, 3));
    expect(await components.getList('s', 'k')).toEqual(items.slice(0, 3));
  });

  it('keep a list that was emptied', async () => {
    const { components } = await open();
    await components.saveList('s', 'k', [1]);
    expect(await components.saveList('s', 'k', [])).toBe(2);
    expect(await components.getListVersioned('s', 'k')).toEqual({ value: [], version: 2 });
    expect(await components.exists('s', 'k')).toBe(true);
    expect(await components.saveList('s', 'empty', [])).toBe(1);
    expect(await components.listNames('s')).toEqual(['empty', 'k']);
    expect(await components.append('s', 'empty', [1])).toBe(2);
  });

  it('merge what two writers appended, and nothing else', async () => {
    const { components } = await open();
    await components.saveList('s', 'k', ['a']);
    const loaded = await components.getListVersioned<string>('s', 'k');
    await components.saveList('s', 'k', ['a', 'b'], { loaded });
    const mine = ['a', 'c'];
    await expect(components.saveList('s', 'k', mine, { loaded })).rejects.toThrow(ComponentConflictError);
    await components.saveList('s', 'k', mine, { loaded, onConflict: 'append-merge' });
    expect(await components.getList('s', 'k')).toEqual(['a', 'b', 'c']);
    const merge = components.saveList('s', 'k', ['edited', 'd'], { loaded, onConflict: 'append-merge' });
    await expect(merge).rejects.toThrow(ComponentConflictError);
    await components.saveList('s', 'k', ['x'], { loaded, onConflict: 'overwrite' });
    expect(await components.getList('s', 'k')).toEqual(['x']);
  });

  it('lose no item of writers beside each other, and let one of them be first', async () => {
    const { store } = await open();
    const writers = Array.from({ length: 4 }, () => new ComponentSession({ store }));
    const all = Array.from({ length: 16 }, (_, index) => index);
    await Promise.all(all.map(async (item) => writers[item % 4]?.append('s', 'k', [item])));
    const [reader] = writers;
    expect((await reader?.getList<number>('s', 'k'))?.toSorted((a, b) => a - b)).toEqual(all);
    const firsts = await Promise.allSettled(writers.map((each) => each.save('new', 'k', 1, { version: 0 })));
    expect(firsts.filter(({ status }) => status === 'fulfilled')).toEqual([{ status: 'fulfilled', value: 1 }]);
  });

  it('list and delete sessions and names', async () => {
    const { components } = await open();
    const ids = ['b', 'a', 'ä', '\u{1F600}', '\uFFEE', 'a/../b', 'A'];
    for (const id of ids) await components.save(id, 'k', 1);
    await components.saveList('b', 'l', [1]);
    const sorted = ['A', 'a', 'a/../b', 'b', 'ä', '\uFFEE', '\u{1F600}'];
    expect(await components.listSessionKeys()).toEqual(sorted);
    expect(await components.listSessionKeys({ after: 'b', limit: 2 })).toEqual(['ä', '\uFFEE']);
    const misspelled = components.listSessionKeys({ cursor: 'b' } as never);
    await expect(misspelled).rejects.toThrow('cursor: is no field; there are after, limit');
    await components.delete('b', 'k');
    expect([await components.exists('b'), await components.exists('b', 'k')]).toEqual([true, false]);
    await components.delete('b', 'l');
    await components.delete('a');
    await components.delete('never');
    expect(await components.exists('b')).toBe(false);
    expect(await components.listSessionKeys()).toEqual(sorted.filter((id) => id !== 'a' && id !== 'b'));
    expect(await components.save('a', 'k', 2)).toBe(1);
  });

  it('keep ids apart that keys, patterns and collations could confuse', async () => {
    const { components } = await open();
    for (const id of HOSTILE) {
      await components.save(id, 'k', id);
      await components.saveList('s', id.slice(0, 200), [id]);
    }
    expect(await components.listSessionKeys()).toEqual([...HOSTILE, 's'].toSorted(compareBytes));
    expect(await components.listNames('s')).toEqual(HOSTILE.map((id) => id.slice(0, 200)).toSorted());
    for (const id of HOSTILE) {
      expect([await components.get(id, 'k'), await components.getList('s', id.slice(0, 200))]).toEqual([id, [id]]);
    }
    await components.delete('*');
    await components.delete('s', '*');
    expect(await components.listSessionKeys()).toHaveLength(HOSTILE.length);
    expect(await components.listNames('s')).toHaveLength(HOSTILE.length - 1);
  });

  it('list sessions page by page, without those that are expired', async () => {
    const { components, clock } = await open(1_000);
    const ids = Array.from({ length: 120 }, (_, index) => `s-${(index * 7_919) % 1_000}`);
    await Promise.all(ids.filter((_, index) => index % 3 === 0).map((id) => components.save(id, 'k', 1)));
    clock.advance(1_000);
    const live = ids.filter((_, index) => index % 3 !== 0).toSorted(compareBytes);
    await Promise.all(live.map((id) => components.save(id, 'k', 1)));
    const listed: string[] = [];
    for (let page = await components.listSessionKeys({ limit: 7 }); page.length > 0;) {
      expect(page.length).toBeLessThanOrEqual(7);
      listed.push(...page);
      page = await components.listSessionKeys({ after: page.at(-1) ?? '', limit: 7 });
    }
    expect(listed).toEqual(live);
    expect([await components.purgeExpired(30), await components.purgeExpired(30)]).toEqual([30, 10]);
    expect(await components.listSessionKeys()).toEqual(live);
  });

  it('write long lists, and write them anew', async () => {
    const { components, store } = await open(1_000);
    const items = Array.from({ length: 2_500 }, (_, index) => `${index} ${'ä'.repeat(200)}`);
    await components.saveList('s', 'k', items);
    await components.append('s', 'k', ['last']);
    expect(await components.getList('s', 'k')).toEqual([...items, 'last']);
    await components.saveList('s', 'k', items.slice(1));
    const other = new ComponentSession({ store });
    expect(await other.getListVersioned('s', 'k')).toEqual({ value: items.slice(1), version: 3 });
    await components.delete('s');
    expect(await other.append('s', 'k', ['new'])).toBe(1);
    expect(await other.getList('s', 'k')).toEqual(['new']);
  });

  it('are shared by objects that remember what they wrote', async () => {
    const { components: one, store } = await open();
    const two = new ComponentSession({ store });
    await one.saveList('s', 'k', ['a']);
    await two.saveList('s', 'k', ['a', 'b']);
    await one.saveList('s', 'k', ['a', 'b', 'c']);
    await two.saveList('s', 'k', ['a', 'b', 'c']);
    expect(await two.getListVersioned('s', 'k')).toEqual({ value: ['a', 'b', 'c'], version: 3 });
    const loaded = { value: ['a', 'b', 'c'], version: 3 };
    expect(await two.saveList('s', 'k', ['a', 'b', 'c'], { loaded })).toBe(3);
    // The same version and length as the one that is remembered, but another list.
    await two.delete('s');
    for (const items of [['x'], ['x', 'y'], ['x', 'y', 'z']]) await two.saveList('s', 'k', items);
    await one.append('s', 'k', ['d']);
    expect(await one.getList('s', 'k')).toEqual(['x', 'y', 'z', 'd']);
  });

  it('may live shorter, longer or for ever from their next save on', async () => {
    const { components, store, clock } = await open(1_000);
    const lasting = new ComponentSession({ store, ttlMs: 10_000 });
    await lasting.save('s', 'k', 1);
    await lasting.saveList('s', 'l', [1]);
    await components.save('s', 'k', 2);
    await components.save('t', 'k', 1);
    await lasting.append('t', 'l', [1]);
    await new ComponentSession({ store }).save('u', 'k', 1);
    clock.advance(1_000);
    expect(await components.listSessionKeys()).toEqual(['t', 'u']);
    expect(await components.getList('s', 'l')).toEqual([]);
    await components.save('u', 'k', 2);
    clock.advance(1_000);
    expect(await components.listSessionKeys()).toEqual(['t']);
    expect(await components.get('t', 'k')).toBe(1);
    expect(await components.purgeExpired()).toBe(2);
    clock.advance(8_000);
    expect([await components.purgeExpired(), await components.listSessionKeys()]).toEqual([1, []]);
  });

  it('expire after their last save, and are purged', async () => {
    const { components, clock } = await open(1_000);
    await components.save('old', 'k', 1);
    await components.saveList('kept', 'k', [1]);
    clock.advance(600);
    await components.saveList('kept', 'k', [1]);
    clock.advance(600);
    expect([await components.exists('old'), await components.exists('kept')]).toEqual([false, true]);
    expect([await components.get('old', 'k'), await components.listSessionKeys()]).toEqual([undefined, ['kept']]);
    expect(await components.purgeExpired()).toBe(1);
    expect(await components.purgeExpired()).toBe(0);
    clock.advance(1_000);
    expect(await components.save('kept', 'other', 1)).toBe(1);
    expect(await components.listNames('kept')).toEqual(['other']);
  });

  it('are what a plain map is', async () => {
    const name = fc.constantFrom('a', 'b');
    const items = fc.array(fc.constantFrom(1, 2, 'x'), { maxLength: 4 });
    const step = fc.oneof(
      fc.record({ kind: fc.constant('value' as const), name, items }),
      fc.record({ kind: fc.constant('list' as const), name, items }),
      fc.record({ kind: fc.constant('append' as const), name, items }),
      fc.record({ kind: fc.constant('delete' as const), name, items }),
    );
    const { components } = await open();
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const session = `s${++runs}`;
        const values = new Map<string, unknown>();
        const lists = new Map<string, unknown[]>();
        for (const each of steps) {
          if (each.kind === 'value') await components.save(session, each.name, each.items);
          if (each.kind === 'list') await components.saveList(session, each.name, each.items);
          if (each.kind === 'append') await components.append(session, each.name, each.items);
          if (each.kind === 'delete') await components.delete(session, each.name);
          if (each.kind === 'value') values.set(each.name, each.items);
          if (each.kind === 'list') lists.set(each.name, each.items);
          if (each.kind === 'append') lists.set(each.name, [...(lists.get(each.name) ?? []), ...each.items]);
          if (each.kind === 'delete') for (const map of [values, lists]) map.delete(each.name);
        }
        for (const key of ['a', 'b']) {
          expect(await components.get(session, key)).toEqual(values.get(key));
          expect(await components.getList(session, key)).toEqual(lists.get(key) ?? []);
        }
        expect(await components.listNames(session)).toEqual(
          [...new Set([...values.keys(), ...lists.keys()])].toSorted(),
        );
      }),
      { numRuns: runsOr(25) },
    );
  });
});

describe('Component sessions', () => {
  it('name a session by text, by an object, or by the ids of a session', async () => {
    const components = new ComponentSession({ store: new InMemoryComponentStore() });
    await components.save({ toIdentifier: () => 'own' }, 'k', 1);
    expect(await components.get('own', 'k')).toBe(1);
    await components.save({ appName: 'a', userId: 'b', sessionId: 'c' }, 'k', 2);
    expect(await components.get({ appName: 'a', userId: 'b', sessionId: 'c' }, 'k')).toBe(2);
    expect(await components.get({ appName: 'a', userId: 'b","c', sessionId: 'c' }, 'k')).toBeUndefined();
  });

  it('take a list of any length in memory', async () => {
    const components = new ComponentSession({ store: new InMemoryComponentStore() });
    const items = Array.from({ length: 200_000 }, () => 0);
    await components.saveList('s', 'k', items);
    expect(await components.getList('s', 'k')).toHaveLength(items.length);
  });

  it.each([
    ['an empty id', '', 'k', 1],
    ['a blank id', ' ', 'k', 1],
    ['U+0000', 'a\u0000b', 'k', 1],
    ['a lone surrogate', 'a\uD800', 'k', 1],
    ['an id that is too long', 'a'.repeat(1_025), 'k', 1],
    ['an empty name', 's', '', 1],
    ['a name that is too long', 's', 'a'.repeat(256), 1],
    ['no value', 's', 'k', undefined],
    ['no JSON', 's', 'k', new Map()],
  ])('refuse %s', async (_, session, name, value) => {
    const components = new ComponentSession({ store: new InMemoryComponentStore() });
    await expect(components.save(session, name, value)).rejects.toThrow(InvalidInputError);
    expect(await components.listSessionKeys()).toEqual([]);
  });
});

describe('A misspelled option', () => {
  const components = new ComponentSession({ store: new InMemoryComponentStore() });

  it.each([
    ['a save', async () => components.save('s', 'k', 1, { versoin: 1 } as never)],
    ['a save by a policy of lists', async () => components.save('s', 'k', 1, { onConflict: 'append-merge' } as never)],
    ['a list', async () => components.saveList('s', 'k', [1], { load: 1 } as never)],
    [
      'a component session',
      async () => new ComponentSession({ store: new InMemoryComponentStore(), ttlms: 5 } as never),
    ],
    ['JSON files', async () => new JsonFileComponentStore({ root: './x', isSync: false } as never)],
    ['JSON files without a folder', async () => new JsonFileComponentStore({ root: ' ' })],
    ['JSON files without a root', async () => new JsonFileComponentStore({} as never)],
  ])('is refused: of %s', async (_what, work) => {
    await expect(work()).rejects.toMatchObject({ code: expect.stringMatching(/INVALID/) as string });
    expect(await components.listNames('s')).toEqual([]);
  });

  it('is no time to live of 0, which is for ever', async () => {
    const forever = new ComponentSession({ store: new InMemoryComponentStore(), ttlMs: 0 });
    await forever.save('s', 'k', 1);
    expect(await forever.get('s', 'k')).toBe(1);
  });
});
