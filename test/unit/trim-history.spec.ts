import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { OverReturningStorage } from '../support/over-returning-storage.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };

describe('trimHistory', () => {
  it.each([
    ['exactly the requested events', new InMemorySessionStorage()],
    ['more events than requested', new OverReturningStorage()],
  ])('folds removed events into the base state if the store returns %s', async (_name, storage) => {
    const sessions = new SessionService({ storage, history: { maxEvents: 1, keepHistory: false } });
    const session = await sessions.createSession({ ...KEY, state: { initial: 1, gone: 1, 'user:u': 1 } });
    const deltas = [
      { stateDelta: { first: 1, last: 1, 'user:u': 2, 'app:a': 2 }, stateRemovals: ['gone', 'user:x'] },
      { stateDelta: { last: 2, dropped: 1, __proto: null } },
      { stateRemovals: ['dropped'] },
    ];
    for (const actions of deltas) await sessions.appendEvent({ session, event: { author: 'user', actions } });
    for (let seq = 4; seq <= 64; seq++) {
      await sessions.appendEvent({ session, event: { author: 'user', actions: { stateDelta: { step: seq } } } });
    }
    await sessions.whenIdle();
    const read = await storage.read({ key: KEY, withBase: true });
    expect(read?.record.firstSeq).toBe(64);
    expect(JSON.parse(read?.baseState ?? '')).toEqual({ initial: 1, first: 1, last: 2, __proto: null, step: 63 });
    expect((await sessions.getSession(KEY))?.state.get('step')).toBe(64);
  });

  it.each([
    ['id', { id: 'c-1' }],
    ['tool name', {}],
  ])('keeps a call, matched by %s, as long as its response is in the view', async (_name, ids) => {
    const storage = new InMemorySessionStorage();
    const sessions = new SessionService({ storage, history: { maxEvents: 10, keepHistory: false } });
    const session = await sessions.createSession(KEY);
    const call = { author: 'agent', content: { parts: [{ functionCall: { ...ids, name: 'look', args: {} } }] } };
    const answer = {
      author: 'user',
      content: { parts: [{ functionResponse: { ...ids, name: 'look', response: {} } }] },
    };
    const fill = async (upTo: number): Promise<void> => {
      while (session.version < upTo) await sessions.appendEvent({ session, event: { author: 'user' } });
      await sessions.whenIdle();
    };
    const firstSeq = async (): Promise<number | undefined> => (await storage.read({ key: KEY }))?.record.firstSeq;

    await fill(9);
    // An older call with the same name is not the call of the response.
    await sessions.appendEvent({ session, event: { ...call, id: 'older' } });
    await fill(39);
    await sessions.appendEvent({ session, event: call });
    await fill(59);
    await sessions.appendEvent({ session, event: answer });
    await fill(64);
    // The view begins at the user message before the call.
    expect(await firstSeq()).toBe(39);
    expect((await sessions.listEvents(KEY)).events[1]).toMatchObject({ seq: 40, content: call.content });
    await fill(128);
    expect(await firstSeq()).toBe(119);
  });
});
