import { SessionService } from '../../src/index.js';
import { verifySessions } from '../../src/transfer/index.js';
import { storesAboveThePort } from '../support/stores.js';
import { COMPONENTS, comparable, filledStore, importLines, KEY, linesOf, USER } from './support.js';

/**
 * Each store imports what memory exported, and exports the same. Memory imports that again. So what one store exports, each other
 * one imports: the files are the same.
 */
describe.each(storesAboveThePort)('an export to and from $name', ({ open }) => {
  it('keeps everything, and a second import changes nothing', async () => {
    const { storage: source, clock } = await filledStore();
    const lines = await linesOf(source);
    const { storage: target, raw, destroy } = await open({ clock });
    try {
      const result = await importLines(target, lines);
      expect(result).toMatchObject({
        sessions: { created: 3, continued: 0, unchanged: 0 },
        events: lines.filter((line) => line.startsWith('{"kind":"event"')).length,
        states: 3,
        usages: 2,
        components: { written: COMPONENTS, unchanged: 0, conflicting: 0 },
        cursor: lines.length - 1,
      });
      const exported = await linesOf(target);
      expect(comparable(exported)).toEqual(comparable(lines));
      expect(await verifySessions(target, lines)).toMatchObject({
        isEqual: true,
        compared: { sessions: 3, components: COMPONENTS },
        differences: [],
      });

      const before = await raw();
      expect(await importLines(target, lines)).toMatchObject({
        sessions: { created: 0, continued: 0, unchanged: 3 },
        events: 0,
        states: 0,
        usages: 0,
        components: { written: 0, unchanged: COMPONENTS },
      });
      expect(await raw()).toEqual(before);
    } finally {
      await destroy();
      await source.close();
    }
  });

  it('keeps what a service reads, and appends go on', async () => {
    const { storage: source, clock } = await filledStore();
    const { storage: target, destroy } = await open({ clock });
    try {
      await importLines(target, await linesOf(source));
      const [before, after] = [source, target].map((storage) => new SessionService({ storage, clock }));
      for (const sessionId of ['s-1', 's-2']) {
        const key = { ...USER, sessionId };
        const [a, b] = [await before?.getSession(key), await after?.getSession(key)];
        expect(JSON.parse(JSON.stringify(b))).toEqual(JSON.parse(JSON.stringify(a)));
        expect((await after?.listEvents(key))?.events).toEqual((await before?.listEvents(key))?.events);
        expect(await after?.getUsage(key)).toEqual(await before?.getUsage(key));
      }
      expect(await after?.listSessions(USER)).toEqual(await before?.listSessions(USER));
      for (const period of ['month', 'total', '2026-10-30', '2026-10']) {
        expect(await after?.getUsage({ ...USER, period })).toEqual(await before?.getUsage({ ...USER, period }));
      }
      const seen: number[] = [];
      for (const sessions of [before, after]) {
        const session = await sessions?.getSession(KEY);
        if (!session || !sessions) throw new Error('no session');
        const usageMetadata = { promptTokenCount: 5 };
        const event = await sessions.appendEvent({ session, event: { id: 'new', author: 'agent', usageMetadata } });
        seen.push(event.seq);
        await sessions.appendEvent({ session, event: { id: 'e-11', author: 'user' } }).catch(() => undefined);
      }
      expect(seen).toEqual([13, 13]);
      expect(await after?.getUsage({ ...USER, period: 'day' })).toEqual(
        await before?.getUsage({ ...USER, period: 'day' }),
      );
      expect(await after?.getUsage({ ...USER, period: 'total' })).toEqual(
        await before?.getUsage({ ...USER, period: 'total' }),
      );
    } finally {
      await destroy();
      await source.close();
    }
  });
});
