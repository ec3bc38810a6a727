import { SessionService, StaleSessionError } from '../../src/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { firstStore, storesAboveThePort } from '../support/stores.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const WRITERS = 12;

const says = (text: string) => ({ author: 'agent', content: { role: 'model' as const, parts: [{ text }] } });

describe.each(storesAboveThePort)('change over a $name store', ({ open }) => {
  let opened: OpenStorage;
  let sessions: SessionService;

  beforeEach(async () => {
    opened = await open({});
    sessions = new SessionService({ storage: opened.storage });
    await sessions.createSession(KEY);
  });
  afterEach(() => opened.destroy());

  it('loses nothing of writers that decide at the same time', async () => {
    const other = new SessionService({ storage: opened.storage });
    const increments = Array.from({ length: WRITERS }, (_, index) =>
      (index % 2 === 0 ? sessions : other).change(KEY, ({ state }) => {
        state.count = state.get('count', 0) + 1;
        return [says(`count ${state.get('count', 0)}`)];
      }),
    );
    await Promise.all(increments);
    const session = await sessions.getSession(KEY);
    expect(session?.state.toRecord()).toEqual({ count: WRITERS });
    const said = session?.events.flatMap(({ content }) => content?.parts?.[0]?.text ?? []);
    expect(said).toEqual(Array.from({ length: WRITERS }, (_, index) => `count ${index + 1}`));
  });

  it('decides again on what others appended meanwhile', async () => {
    const versions: number[] = [];
    const { session, events } = await sessions.change(KEY, async (now) => {
      versions.push(now.version);
      if (versions.length === 1) await sessions.append({ session: { ...KEY, id: 's' }, event: says('first') });
      return [says(`after ${now.events.length}`)];
    });
    expect(versions).toEqual([0, 1]);
    expect(events.map(({ seq, content }) => [seq, content?.parts?.[0]?.text])).toEqual([[2, 'after 1']]);
    expect(session).toMatchObject({ version: 2 });
  });

  it('writes nothing if there is nothing to change', async () => {
    const before = await opened.raw();
    for (const nothing of [[], undefined]) {
      const { session, events } = await sessions.change(KEY, () => nothing);
      expect([session.version, events]).toEqual([0, []]);
    }
    expect(await opened.raw()).toEqual(before);
  });
});

describe.each(firstStore)('change', ({ open }) => {
  let opened: OpenStorage;
  let sessions: SessionService;

  beforeEach(async () => {
    opened = await open({});
    sessions = new SessionService({ storage: opened.storage });
    await sessions.createSession({ ...KEY, state: { gone: 1, 'user:theme': 'light' } });
  });
  afterEach(() => opened.destroy());

  it('stores events and what was changed in the state in one commit', async () => {
    const { session, events } = await sessions.change(KEY, ({ state }) => {
      state['user:theme'] = 'dark';
      delete state.gone;
      return [says('dark now')];
    });
    expect(events).toMatchObject([
      { seq: 1, author: 'agent' },
      { seq: 2, author: 'system', actions: { stateDelta: { 'user:theme': 'dark' }, stateRemovals: ['gone'] } },
    ]);
    expect(session.state.hasDelta()).toBe(false);
    expect((await sessions.getSession(KEY))?.state.toRecord()).toEqual({ 'user:theme': 'dark' });
  });

  it('ends the turn with what it appends, and is refused after it', async () => {
    const turn = await sessions.beginTurn({ ...KEY, holder: 'me' });
    await sessions.change({ ...KEY, turn, endTurn: true }, () => [says('done')]);
    expect(await sessions.getTurn(KEY)).toBeUndefined();
    await expect(sessions.change({ ...KEY, turn }, () => [says('late')])).rejects.toMatchObject({ code: 'TURN_LOST' });
  });

  it('reads the events that are asked for', async () => {
    await sessions.append({ session: { ...KEY, id: 's' }, event: says('one') });
    await sessions.change({ ...KEY, config: { numRecentEvents: 0 } }, ({ events, version }) => {
      expect([events, version]).toEqual([[], 1]);
    });
  });

  it.each([new RangeError('no'), new StaleSessionError(1, 2)])('throws %s of the decision, once', async (problem) => {
    const decide = jest.fn(() => {
      throw problem;
    });
    await expect(sessions.change(KEY, decide)).rejects.toBe(problem);
    expect(decide).toHaveBeenCalledTimes(1);
  });

  it('refuses a missing request by its promise, as all operations do', async () => {
    const refused = sessions.change(undefined as never, () => []);
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  it('gives up if others always come first', async () => {
    const decide = jest.fn(async () => {
      await sessions.append({ session: { ...KEY, id: 's' }, event: says('first') });
      return [says('second')];
    });
    await expect(sessions.change(KEY, decide)).rejects.toThrow(StaleSessionError);
    expect(decide.mock.calls.length).toBeGreaterThan(10);
  });

  it.each([
    ['a session that is not there', { ...KEY, sessionId: 'none' }, () => [], 'SESSION_NOT_FOUND'],
    ['what is no function', KEY, [] as never, 'INVALID_INPUT'],
    ['an event instead of a list', KEY, () => says('one') as never, 'INVALID_INPUT'],
    ['an event that is none', KEY, () => [{ author: 7 }] as never, 'INVALID_INPUT'],
  ])('refuses %s', async (_what, key, decide, code) => {
    await expect(sessions.change(key, decide)).rejects.toMatchObject({ code });
  });
});
