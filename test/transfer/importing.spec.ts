import { Readable } from 'node:stream';
import { SessionService } from '../../src/index.js';
import type { ManualClock } from '../../src/testing/index.js';
import type { SessionStorage, Upsert } from '../../src/storage.js';
import { exportSessions, importSessions, verifySessions } from '../../src/transfer/index.js';
import { randomNumbers, seed } from '../support/random.js';
import { firstStore, storesAboveThePort } from '../support/stores.js';
import {
  comparable,
  filledStore,
  importLines,
  KEY,
  linesOf,
  overridden,
  text,
  USER,
  withoutTransfer,
} from './support.js';

const ALL = 3;

/** Fails after so many lines, in the middle of a chunk of a stream. */
async function* cutOff(lines: readonly string[], after: number): AsyncGenerator<string> {
  yield lines.slice(0, after).join('');
  throw new Error('the connection broke');
}

/** The store as one that turns around the keys inside of values. */
function reordering(storage: SessionStorage): SessionStorage {
  return overridden(storage, {
    create: (request) => storage.create({ ...request, upserts: request.upserts.map(turned) }),
    writeState: (request) => storage.writeState({ ...request, upserts: request.upserts.map(turned) }),
  });
}

function turned({ value, ...upsert }: Upsert): Upsert {
  return { ...upsert, value: turnedText(value) };
}

function turnedText(value: string): string {
  return JSON.stringify(JSON.parse(value), (_name, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toReversed())
      : inner,
  );
}

describe('importing', () => {
  let lines: string[];
  let clock: ManualClock;
  let source: SessionStorage;

  beforeEach(async () => {
    ({ storage: source, clock } = await filledStore());
    lines = await linesOf(source);
  });
  afterEach(() => source.close());

  describe.each(storesAboveThePort)('into $name', ({ open }) => {
    it('goes on where it was interrupted, without anything twice', async () => {
      const { storage: target, destroy } = await open({ clock });
      try {
        const random = randomNumbers(seed);
        // Parts are written per session here, since no session is as long as a batch.
        for (let cuts = 0; cuts < 4; cuts++) {
          const after = 1 + Math.floor(random() * (lines.length - 1));
          await expect(importSessions(target, cutOff(lines, after))).rejects.toThrow('the connection broke');
        }
        const result = await importLines(target, lines);
        expect(result.sessions.created + result.sessions.continued + result.sessions.unchanged).toBe(ALL);
        expect(comparable(await linesOf(target))).toEqual(comparable(lines));
      } finally {
        await destroy();
      }
    });
  });

  describe.each(firstStore)('into any store, such as $name,', ({ open }) => {
    let target: SessionStorage;
    let destroy: () => Promise<void>;

    beforeEach(async () => {
      ({ storage: target, destroy } = await open({ clock }));
    });
    afterEach(() => destroy());

    it('goes on after each write that failed, and notices a write whose answer was lost', async () => {
      for (let failing = 1; ; failing++) {
        let writes = 0;
        const broken = new Proxy(target, {
          get(on, name) {
            const value = Reflect.get(on, name, on) as unknown;
            if (name === 'transfer') return new Proxy(value as object, this);
            if (typeof value !== 'function') return value;
            return async (...args: unknown[]) => {
              const isWrite = ['create', 'restoreEvents', 'restoreUsage', 'rebuild', 'writeState'].includes(
                String(name),
              );
              if (isWrite && ++writes === failing && failing % 2) throw new Error('away');
              const answer = (await Reflect.apply(value, on, args)) as unknown;
              if (isWrite && writes === failing) throw new Error('away');
              return answer;
            };
          },
        });
        const failure = await importLines(broken, lines).catch((error: unknown) => error);
        if (writes < failing) break;
        expect(failure).toMatchObject({ message: 'away' });
      }
      await importLines(target, lines);
      expect(comparable(await linesOf(target))).toEqual(comparable(lines));
    });

    it('replaces sessions that have changed since the first import, if that is wanted', async () => {
      await importLines(target, lines);
      const sessions = new SessionService({ storage: source, clock });
      const events = Array.from({ length: 1_200 }, (_, index) => ({ author: 'agent', content: text(`more ${index}`) }));
      for (let at = 0; at < events.length; at += 100) {
        await sessions.appendEvents({ session: { ...USER, id: 's-1' }, events: events.slice(at, at + 100) });
      }
      const later = await linesOf(source);
      await expect(importLines(target, later)).rejects.toThrow('it is an older copy');
      // In the middle of the long one: what is there of it is no older copy.
      const cut = importSessions(target, cutOff(later, 900), { onConflict: 'replace' });
      await expect(cut).rejects.toThrow('the connection broke');
      expect(await importLines(target, later)).toMatchObject({
        sessions: { created: 0, continued: 1, unchanged: 2 },
        events: 709,
      });
      expect(comparable(await linesOf(target))).toEqual(comparable(later));
    });

    it('skips with a cursor what an earlier import has finished', async () => {
      const reports: { cursor: number; line: number }[] = [];
      const first = await importLines(target, lines, {
        onProgress: ({ cursor, line }) => reports.push({ cursor, line }),
      });
      expect(reports.at(-1)?.cursor).toBe(first.cursor);
      let reads = 0;
      const counted = new Proxy(target, {
        get: (on, name) => {
          if (name === 'read') reads++;
          return Reflect.get(on, name, on) as unknown;
        },
      });
      expect(await importLines(counted, lines, { cursor: first.cursor })).toMatchObject({
        sessions: { created: 0, unchanged: 0 },
        cursor: first.cursor,
      });
      expect(reads).toBe(0);
      const ofAnother = importLines(target, lines, { cursor: lines.length + 1 });
      await expect(ofAnother).rejects.toThrow(
        `it has ${lines.length} lines; the cursor ${lines.length + 1} is of another`,
      );
    });

    it('writes nothing in a dry run, and counts the same', async () => {
      const planned = await importLines(target, lines, { dryRun: true });
      expect(await linesOf(target)).toHaveLength(2);
      expect(planned).toEqual(await importLines(target, lines));
    });

    it('imports what the filter names', async () => {
      const filter = { ...USER, sessionId: 's-2' };
      expect(await importLines(target, lines, { filter })).toMatchObject({
        sessions: { created: 1, filtered: 2 },
        states: 0,
        usages: 0,
      });
      const exported: string[] = [];
      for await (const line of exportSessions(source, { filter })) exported.push(line);
      expect(comparable(exported)).toEqual(comparable(await linesOf(target)));
      await expect(importLines(target, lines, { filter: { userId: 'ann' } })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
      });
    });

    it('reports sessions that differ, and changes none of them', async () => {
      const own = new SessionService({ storage: target, clock });
      const other = await own.createSession(KEY);
      await own.appendEvent({ session: other, event: { id: 'mine', author: 'user' } });
      await expect(importLines(target, lines)).rejects.toMatchObject({ code: 'TRANSFER_CONFLICT', sessionId: 's-1' });
      expect(await importLines(target, lines, { onConflict: 'skip' })).toMatchObject({
        sessions: { conflicting: 1 },
        conflicts: [{ ...KEY, problem: 'it was created at another time' }],
      });
      expect((await own.listEvents(KEY)).events.map(({ id }) => id)).toEqual(['mine']);
      const { isEqual, differences } = await verifySessions(target, lines);
      expect(isEqual).toBe(false);
      expect(differences).toMatchObject([{ sessionId: 's-1' }, { sessionId: 's-1' }]);
    });

    it('finds an event that differs', async () => {
      await importLines(target, lines);
      const changed = lines.map((line) => line.replace('"text":"12"', '"text":"13"'));
      expect((await verifySessions(target, lines)).isEqual).toBe(true);
      await expect(importLines(target, changed)).rejects.toMatchObject({ code: 'TRANSFER_FILE_INVALID' });
    });

    it('finds keys inside of values in another order, unless the target says that it does not keep it', async () => {
      const value = { b: 1, a: [{ d: 1, c: 2 }] };
      const sessions = new SessionService({ storage: source, clock });
      await sessions.createSession({ ...KEY, sessionId: 'ordered', state: { value, 'user:value': value } });
      lines = await linesOf(source);
      await importLines(reordering(target), lines);
      const differences = [
        { ...KEY, sessionId: 'ordered', problem: 'the session differs in state' },
        { ...USER, problem: 'the state differs' },
      ];
      expect(await verifySessions(target, lines)).toMatchObject({ isEqual: false, differences });
      const transfer = target.transfer && overridden(target.transfer, { keepsKeyOrder: false });
      expect(await verifySessions(overridden(target, { transfer }), lines)).toMatchObject({ isEqual: true });
    });

    it('keeps state keys of the target', async () => {
      const own = new SessionService({ storage: target, clock });
      await own.updateUserState({ ...USER, stateDelta: { theme: 'own' } });
      await importLines(target, lines);
      expect(await own.getUserState(USER)).toEqual({ theme: 'own', name: 'Ann', '1': true });
    });

    it('leaves out what has expired in the meantime', async () => {
      const sessions = new SessionService({
        storage: source,
        clock,
        ttl: { enabled: true, sessionSeconds: 60, userStateSeconds: 60 },
      });
      await sessions.createSession({ appName: 'brief', userId: 'ann', sessionId: 's', state: { 'user:a': 1 } });
      const brief: string[] = [];
      for await (const line of exportSessions(source, { filter: { appName: 'brief' } })) brief.push(line);
      const { storage: early, destroy: end } = await open({ clock });
      await importLines(early, brief);
      expect(
        (
          await new SessionService({ storage: early, clock }).getSession({
            appName: 'brief',
            userId: 'ann',
            sessionId: 's',
          })
        )?.state.toRecord(),
      ).toEqual({ 'user:a': 1 });
      clock.advanceSeconds(60);
      expect(await linesOf(early)).toHaveLength(2);
      expect(await importLines(target, brief)).toMatchObject({ sessions: { created: 0, expired: 1 }, states: 0 });
      await end();
    });

    it.each([
      ['cut off', (all: string[]) => all.slice(0, -3)],
      ['without one line', (all: string[]) => all.toSpliced(4, 1)],
      ['with a changed event', (all: string[]) => all.map((line) => line.replace('say 10', 'say 11'))],
      ['with lines after its footer', (all: string[]) => [...all, ...all]],
      ['of a later version', (all: string[]) => all.map((line) => line.replace('"version":1', '"version":2'))],
      ['of another kind', () => ['{"a":1}\n']],
      ['that is no text', () => ['\u0000\u0001']],
      ['that is empty', () => []],
      [
        'that is nested too deeply',
        (all: string[]) =>
          all.map((line) =>
            line.replace('"text":"say 10', `"deep":${'['.repeat(100_000)}${']'.repeat(100_000)},"text":"say 10`),
          ),
      ],
      ['with usage that is none', (all: string[]) => all.map((line) => line.replace(/"sums":\[/, '"sums":[null,'))],
      ['with models that are none', (all: string[]) => all.map((line) => line.replace(/"usage":\[/, '"usage":[null,'))],
      [
        'with a hostile id',
        (all: string[]) => all.map((line) => line.replace('"userId":"ann', '"userId":"\\u0000ann')),
      ],
    ])('refuses a file %s', async (_what, change) => {
      await expect(importLines(target, change(lines))).rejects.toMatchObject({ code: 'TRANSFER_FILE_INVALID' });
    });

    it('refuses a line that is too long, at the cost of its length', async () => {
      const piece = 'x'.repeat(65_536);
      let pieces = 0;
      const endless = function* (): Generator<string> {
        for (;;) {
          pieces++;
          yield piece;
        }
      };
      const start = process.cpuUsage();
      await expect(importSessions(target, endless())).rejects.toMatchObject({ code: 'TRANSFER_FILE_INVALID' });
      expect(pieces).toBe(1_025);
      // Searching all of the line again with each piece takes many seconds.
      expect(process.cpuUsage(start).user).toBeLessThan(2_000_000);
    });

    it('reads any pieces of a stream', async () => {
      const bytes = Buffer.from(lines.join(''));
      const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) =>
        bytes.subarray(7 * index, 7 * index + 7),
      );
      await importSessions(target, Readable.from(pieces));
      expect(comparable(await linesOf(target))).toEqual(comparable(lines));
    });

    it('reads a file that got the line ends of Windows', async () => {
      await importSessions(target, [lines.join('').replaceAll('\n', '\r\n')]);
      expect(comparable(await linesOf(target))).toEqual(comparable(lines));
    });

    it('needs `transfer` of the store, but an export and a dry run do not', async () => {
      await importLines(target, lines);
      const own = withoutTransfer(target);
      await expect(importLines(own, lines)).rejects.toMatchObject({ code: 'UNSUPPORTED_BY_STORE' });
      const withState = lines.filter((line) => !line.includes('without sessions'));
      expect(comparable(await linesOf(own))).toEqual(comparable(withState));
      expect(await importLines(own, lines, { dryRun: true })).toMatchObject({ sessions: { unchanged: ALL } });
    });
  });
});
