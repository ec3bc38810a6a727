import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ComponentSession, InMemoryComponentStore, JsonFileComponentStore } from '../../src/components/index.js';
import { SessionRetention, SessionService } from '../../src/index.js';
import type { SessionStorage } from '../../src/storage.js';
import type { ManualClock } from '../../src/testing/index.js';
import { eraseUser, exportSessions, exportUser, verifySessions } from '../../src/transfer/index.js';
import { temporaryFolder } from '../components/support/stores.js';
import { firstStore } from '../support/stores.js';
import { COMPONENTS, comparable, filledStore, importLines, KEY, linesOf, USER } from './support.js';

const OWN_NAME = 'a name of the app: ["shop"';

describe('component state', () => {
  const folder = temporaryFolder();
  let count = 0;
  let source: SessionStorage;
  let clock: ManualClock;
  let lines: string[];

  beforeEach(async () => {
    ({ storage: source, clock } = await filledStore());
    lines = await linesOf(source);
  });
  afterEach(() => source.close());

  function jsonFiles(): { store: JsonFileComponentStore; root: string } {
    const root = join(folder, `${++count}`);
    return { root, store: new JsonFileComponentStore({ root, isSynced: false, clock }) };
  }

  describe.each(firstStore)('with $name beside', ({ open }) => {
    let target: SessionStorage;
    let destroy: () => Promise<void>;

    beforeEach(async () => {
      ({ storage: target, destroy } = await open({ clock }));
    });
    afterEach(() => destroy());

    it('goes into JSON files and comes back the same', async () => {
      const { store } = jsonFiles();
      const result = await importLines(target, lines, { components: store });
      expect(result.components).toEqual({ written: COMPONENTS, unchanged: 0, expired: 0, conflicting: 0, filtered: 0 });
      expect(await verifySessions(target, lines, { components: store })).toMatchObject({ isEqual: true });
      const exported = await collected(exportSessions(target, { components: [store] }));
      expect(comparable(exported)).toEqual(comparable(lines));
      expect(await importLines(target, lines, { components: store })).toMatchObject({
        components: { written: 0, unchanged: COMPONENTS },
      });
      // It is nowhere else.
      expect((await verifySessions(target, lines)).differences).toHaveLength(COMPONENTS);
      expect(
        await new ComponentSession({ store }).getList(
          { appName: 'other/app', userId: 'bob', sessionId: '../x' },
          'long',
        ),
      ).toHaveLength(1_203);
      clock.advanceSeconds(40 * 86_400);
      expect(await new ComponentSession({ store }).exists(OWN_NAME)).toBe(false);
      expect(await importLines(target, lines, { components: jsonFiles().store })).toMatchObject({
        components: { written: COMPONENTS - 1, expired: 1 },
      });
    });

    it('is exported from all stores that are named, each text as it is stored', async () => {
      const { store } = jsonFiles();
      const text = '{"a": 1.0,\n "big": 12345678901234567890}';
      const place = { session: 'files', name: 'of another program', kind: 'value' } as const;
      await store.write({ place, keep: 0, keptDigest: '', texts: [text], digest: 'as it was' });
      const all = await collected(exportSessions(source, { components: [source.components ?? store, store] }));
      expect(all).toHaveLength(lines.length + 1);
      expect(all.find((line) => line.includes('of another program'))).toContain(JSON.stringify(text));
      expect(await collected(exportSessions(source, { components: [] }))).toHaveLength(lines.length - COMPONENTS - 2);
    });

    it('belongs to the user whose data is handed over and erased', async () => {
      const { store, root } = jsonFiles();
      const components = new ComponentSession({ store });
      await components.save(KEY, 'plan', 'in files');
      await components.save({ ...KEY, userId: `${KEY.userId}2` }, 'plan', 'of another user');
      await components.save(OWN_NAME, 'plan', 'under a name of the app');
      const both = { components: [source.components ?? store, store] };
      const handed = (await collected(exportUser(source, USER, both))).filter((line) => line.includes('"component"'));
      expect(handed.map((line) => (JSON.parse(line) as { items: string[] }).items[0])).toEqual([
        '"a"',
        expect.stringContaining('1e+21'),
        undefined,
        '"in files"',
      ]);
      await eraseUser(source, USER, both);
      expect((await collected(exportUser(source, USER, both))).slice(1, -1)).toEqual([]);
      expect(await components.listSessionKeys()).toHaveLength(2);
      expect(readdirSync(root, { recursive: true }).filter((name) => String(name).includes('s-1'))).toHaveLength(
        readdirSync(root, { recursive: true }).filter((name) => String(name).includes('7C%C3%A4%7B%7D%2A2')).length,
      );
    });

    it('goes on in the middle of a list, and says what differs', async () => {
      const store = new InMemoryComponentStore({ clock });
      const components = new ComponentSession({ store });
      const key = { appName: 'other/app', userId: 'bob', sessionId: '../x' };
      const long = Array.from({ length: 700 }, (_, index) => ({ index }));
      await components.saveList(key, 'long', long);
      expect(await importLines(target, lines, { components: store })).toMatchObject({
        components: { written: COMPONENTS },
      });
      // It has more by now, and one that differs.
      await components.append(key, 'long', ['more']);
      await components.save(KEY, 'plan', 'changed');
      const changed = { sessionId: 's-1', component: 'plan' };
      await expect(importLines(target, lines, { components: store })).rejects.toMatchObject({
        code: 'TRANSFER_CONFLICT',
        sessionId: 's-1',
        problem: 'its component "plan" differs',
      });
      expect(await importLines(target, lines, { components: store, onConflict: 'skip' })).toMatchObject({
        components: { written: 0, unchanged: COMPONENTS - 1, conflicting: 1 },
        conflicts: [{ ...USER, ...changed }],
      });
      const { differences } = await verifySessions(target, lines, { components: store });
      expect(differences.map(({ component, problem }) => `${component}: ${problem}`).toSorted()).toEqual([
        'long: the list differs',
        'plan: the value differs',
      ]);
      await components.saveList(key, 'long', [...long.slice(0, 600), 'another', ...long.slice(601)]);
      const replaced = { components: store, onConflict: 'replace' } as const;
      expect(await importLines(target, lines, replaced)).toMatchObject({ components: { written: 2, unchanged: 3 } });
      expect((await verifySessions(target, lines, { components: store })).isEqual).toBe(true);
    });

    it('of a session that is held is not replaced', async () => {
      const store = new InMemoryComponentStore({ clock });
      const serviceOf = (storage: SessionStorage): SessionService => new SessionService({ storage, clock });
      const [from, sessions] = [serviceOf(source), serviceOf(target)];
      const hold = { labels: { hold: 'case-7' } };
      const label = { author: 'system', actions: { metadataDelta: hold } };
      await from.appendEvent({ session: { ...KEY, id: KEY.sessionId }, event: label });
      lines = await linesOf(source);
      await importLines(target, lines, { components: store });
      new SessionRetention({ sessions, rules: [], hold }).start();
      await sessions.whenIdle();
      const components = new ComponentSession({ store });
      await components.save(KEY, 'plan', 'changed');
      const replaced = { components: store, onConflict: 'replace' } as const;
      for (const dryRun of [true, false])
        await expect(importLines(target, lines, { ...replaced, dryRun })).rejects.toMatchObject({
          code: 'SESSION_HELD',
          sessionId: KEY.sessionId,
        });
      expect(await components.get(KEY, 'plan')).toBe('changed');
    });

    it('goes on after each write that failed, and notices one whose answer was lost', async () => {
      const store = new InMemoryComponentStore({ clock });
      for (let failing = 1; ; failing++) {
        let writes = 0;
        const broken = new Proxy(store, {
          get(on, name) {
            const value = Reflect.get(on, name, on) as unknown;
            if (typeof value !== 'function') return value;
            return async (...args: unknown[]) => {
              const isFailing = name === 'write' && ++writes === failing;
              if (isFailing && failing % 2) throw new Error('away');
              const answer = (await Reflect.apply(value, on, args)) as unknown;
              if (isFailing) throw new Error('away');
              return answer;
            };
          },
        });
        const failure = await importLines(target, lines, { components: broken }).catch((error: unknown) => error);
        if (writes < failing) break;
        expect(failure).toMatchObject({ message: 'away' });
      }
      expect((await verifySessions(target, lines, { components: store })).isEqual).toBe(true);
    });

    it('is left out by a filter, or if nobody keeps it', async () => {
      expect(await importLines(target, lines, { filter: USER })).toMatchObject({
        components: { written: 3, filtered: 2 },
      });
      expect(await importLines(target, lines, { filter: KEY, dryRun: true })).toMatchObject({
        components: { written: 0, unchanged: 2, filtered: 3 },
      });
      const none = new Proxy(target, {
        get(on, name) {
          const value = name === 'components' ? undefined : (Reflect.get(on, name, on) as unknown);
          return typeof value === 'function' ? (value.bind(on) as unknown) : value;
        },
      });
      await expect(importLines(none, lines)).rejects.toMatchObject({ code: 'UNSUPPORTED_BY_STORE' });
      expect(await importLines(none, lines, { components: false })).toMatchObject({
        components: { written: 0, filtered: COMPONENTS },
      });
    });

    it.each([
      ['an item that was changed', (line: string) => line.replace('\\"index\\":7}', '\\"index\\":8}')],
      ['an item that is no JSON', (line: string) => line.replace('"{\\"index\\":7}"', '"{index"')],
      ['another name', (line: string) => line.replace('"name":"long"', `"name":"${'x'.repeat(256)}"`)],
      ['a session that is none', (line: string) => line.replace(/"session":"[^"]*(\\"[^"]*)*"/, '"session":" "')],
      ['a part out of its order', (line: string) => line.replace('"from":500', '"from":499')],
    ])('is refused with %s', async (_what, change) => {
      const changed = lines.map((line) => (line.includes('"long"') ? change(line) : line));
      expect(changed).not.toEqual(lines);
      await expect(importLines(target, changed)).rejects.toMatchObject({ code: 'TRANSFER_FILE_INVALID' });
      const { components, problems } = await importLines(target, changed, { onBad: 'skip' });
      expect(components.written).toBe(COMPONENTS - 1);
      expect(problems.length).toBeGreaterThan(0);
    });

    it('goes with a session that is deleted and with a user who is erased, never with a new one', async () => {
      const { store } = jsonFiles();
      const components = new ComponentSession({ store });
      const sessions = new SessionService({ storage: target, clock });
      const end = components.deleteWith(sessions);
      const other = { ...KEY, sessionId: 's-2' };
      for (const key of [KEY, other]) {
        await sessions.createSession(key);
        await components.save(key, 'plan', 1);
      }
      let seen: unknown;
      const spy = new Proxy(target, {
        get(on, name) {
          const value = Reflect.get(on, name, on) as unknown;
          if (typeof value !== 'function') return value;
          return async (...args: unknown[]) => {
            if (name === 'delete') seen = await components.exists(KEY);
            return Reflect.apply(value, on, args) as unknown;
          };
        },
      });
      const spied = new SessionService({ storage: spy, clock });
      components.deleteWith(spied);
      await spied.deleteSession(KEY);
      // Component state goes first, so what a new session saves after the deletion stays.
      expect(seen).toBe(false);
      expect(await components.exists(other)).toBe(true);
      await sessions.eraseUser(USER);
      expect(await components.listSessionKeys()).toEqual([]);
      end();
      await components.save(KEY, 'plan', 1);
      await sessions.deleteSession(KEY);
      expect(await components.exists(KEY)).toBe(true);
    });
  });
});

async function collected(from: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const line of from) all.push(line);
  return all;
}
