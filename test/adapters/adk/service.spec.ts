import { inspect } from 'node:util';
import {
  type Event,
  InMemorySessionService,
  type Runner,
  type Session,
  createEvent,
  createEventActions,
} from '@google/adk';
import { AdkSessionService } from '../../../src/adapters/adk/index.js';
import { StaleSessionError } from '../../../src/index.js';
import { KEY, RUN, USER, openServices } from './support/opened.js';
import { message } from './support/scripted-llm.js';

const userEvent = (fields: Partial<Event> = {}) =>
  createEvent({ author: 'user', content: message('Hello'), ...fields });

/** The kind of each object in a value, by its path: what its prototype is. */
function kindsOf(value: unknown, path = '$'): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const prototype: unknown = Object.getPrototypeOf(value);
  const kind = prototype === null ? 'null' : (prototype as object).constructor.name;
  const inside = Object.entries(value).flatMap(([key, each]) => kindsOf(each, `${path}.${key}`));
  return [`${path}: ${kind}`, ...inside].toSorted();
}

async function opened() {
  const services = openServices();
  return { ...services, session: await services.adk.createSession(KEY) };
}

describe('The session service of ADK', () => {
  it.each([
    ['createSession', { stat: {} }, 'state'],
    ['getOrCreateSession', { session_id: 's' }, 'sessionId'],
    ['listSessions', { lmit: 1 }, 'limit'],
    ['deleteSession', { ifUnchangd: true }, 'ifUnchanged'],
  ] as const)('refuses a field of %s in another spelling: %j', async (method, fields, meant) => {
    const { adk } = openServices();
    await expect(adk[method]({ ...USER, ...fields } as never)).rejects.toThrow(`did you mean ${meant}?`);
  });

  it('refuses an option and a field of a run in another spelling', () => {
    const { adk, sessions } = openServices();
    expect(() => new AdkSessionService({ sessions, refusestale: true } as never)).toThrow('did you mean refuseStale?');
    expect(() => adk.runInTurn({} as Runner, { ...RUN, waitMS: 5 } as never)).toThrow('did you mean waitMs?');
  });

  it('removes what a delta sets to undefined, and keeps null', async () => {
    const { adk, sessions } = openServices();
    const session = await adk.createSession({ ...KEY, state: { a: 1, b: 2, 'user:c': 3, absent: undefined } });
    const stateDelta = { a: undefined, b: null, 'user:c': undefined };
    await adk.appendEvent({ session, event: createEvent({ author: 'support', actions: { stateDelta } }) });
    expect(session.state).toMatchObject({ b: null });
    expect(session.state.a).toBeUndefined();
    expect((await sessions.getSession(KEY))?.state.toRecord()).toEqual({ b: null });
  });

  it('takes objects of classes, as JSON has them, and says where something cannot be stored', async () => {
    class Order {
      readonly id = 7;
      #secret = 1;
      get next(): number {
        return this.id + this.#secret;
      }
      reload(): void {
        this.#secret++;
      }
      readonly refresh = (): void => this.reload();
    }
    const { adk, session } = await opened();
    const shared = { of: 'both' };
    const response = {
      order: new Order(),
      at: new Date(0),
      url: new URL('https://example.com'),
      list: [null, shared, shared],
      absent: undefined,
    };
    const parts = [{ functionCall: { id: 'c', name: 'f' } }, { functionResponse: { id: 'c', name: 'f', response } }];
    await adk.appendEvent({ session, event: createEvent({ author: 'support', content: { role: 'model', parts } }) });
    const stored = (await adk.getSession(KEY))?.events[0]?.content?.parts?.[1]?.functionResponse?.response;
    expect(stored).toEqual({
      order: { id: 7 },
      at: '1970-01-01T00:00:00.000Z',
      url: 'https://example.com/',
      list: [null, shared, shared],
    });
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    for (const [value, path] of [
      [new Map([['a', 1]]), '$.actions.stateDelta.x'],
      [{ deep: 1n }, '$.actions.stateDelta.x.deep'],
      [new Uint8Array(2), '$.actions.stateDelta.x'],
      [circle, '$.actions.stateDelta.x.self'],
      [() => 1, '$.actions.stateDelta.x'],
      [{ run: () => 1 }, '$.actions.stateDelta.x.run'],
      [[1, undefined], '$.actions.stateDelta.x[1]'],
      [new Error('no'), '$.actions.stateDelta.x'],
      [/x/, '$.actions.stateDelta.x'],
      [Buffer.from('abc'), '$.actions.stateDelta.x'],
      [new Date(Number.NaN), '$.actions.stateDelta.x'],
      [new URLSearchParams('a=1'), '$.actions.stateDelta.x'],
    ] as const) {
      const event = createEvent({ author: 'support', actions: { stateDelta: { x: value } } });
      await expect(adk.appendEvent({ session, event })).rejects.toMatchObject({ code: 'INVALID_INPUT', path });
    }
    const refused = adk.createSession({ ...USER, state: { load: () => 1 } });
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_INPUT', path: '$.state.load' });
    expect(session.events).toHaveLength(1);
    expect(session.state).toEqual({});
  });

  it('stores a repeated append once, and refuses another event with the same id', async () => {
    const { adk, sessions, session } = await opened();
    const event = userEvent({ id: 'e1', timestamp: 1_700_000_000_000 });
    await adk.appendEvent({ session, event });
    await adk.appendEvent({ session, event: { ...event } });
    expect(session.events).toHaveLength(1);
    await expect(adk.appendEvent({ session, event: { ...event, content: message('Bye') } })).rejects.toMatchObject({
      code: 'EVENT_CONFLICT',
    });
    expect((await sessions.listEvents(KEY)).events).toHaveLength(1);
  });

  it('keeps appends through one object in the order of the calls', async () => {
    const { adk, session } = await opened();
    const ids = Array.from({ length: 20 }, (_, index) => `e${index}`);
    await Promise.all(
      ids.map((id, step) => adk.appendEvent({ session, event: userEvent({ id, actions: actionsOf({ step }) }) })),
    );
    expect(session.events.map(({ id }) => id)).toEqual(ids);
    const read = await adk.getSession(KEY);
    expect(read?.events.map(({ id }) => id)).toEqual(ids);
    expect([session.state.step, read?.state.step]).toEqual([19, 19]);
  });

  it('lets two objects write, and refuses the stale one if asked to', async () => {
    for (const refuseStale of [false, true]) {
      const { adk, sessions } = openServices(undefined, { refuseStale });
      const first = await adk.createSession(KEY);
      const second = (await adk.getSession(KEY)) as Session;
      await adk.appendEvent({ session: first, event: userEvent({ id: 'e1' }) });
      await adk.appendEvent({ session: first, event: userEvent({ id: 'e2' }) });
      const late = adk.appendEvent({ session: second, event: userEvent({ id: 'e3' }) });
      if (refuseStale) await expect(late).rejects.toThrow(StaleSessionError);
      else await late;
      const stored = (await sessions.listEvents(KEY)).events.map(({ id }) => id);
      expect(stored).toEqual(refuseStale ? ['e1', 'e2'] : ['e1', 'e2', 'e3']);
      expect(second.events.map(({ id }) => id)).toEqual(refuseStale ? [] : ['e3']);
      // Nothing that failed keeps the object from being used.
      await adk.appendEvent({ session: first, event: userEvent({ id: 'e4' }) }).catch(() => undefined);
    }
  });

  it('revives nothing of ADK that a client wrote as a user', async () => {
    const { adk, sessions } = openServices();
    await adk.createSession(KEY);
    const notes = {
      nodeInfo: { path: 'flow.pay' },
      output: 'paid',
      route: 'done',
      isolationScope: 'flow',
      isCompacted: true,
      isScratchpad: true,
      compactedContent: 'They agreed to pay.',
      startTime: 1,
      endTime: 2,
    };
    const event = {
      author: 'User',
      content: message('Hi'),
      ...notes,
      actions: { agentState: { input: 1 }, endOfAgent: true, requestedToolConfirmations: { c1: { confirmed: true } } },
    };
    await sessions.appendEvent({ session: { ...USER, id: KEY.sessionId }, event });
    const [read] = (await adk.getSession(KEY))?.events ?? [];
    expect(read).toMatchObject({ author: 'User', content: message('Hi') });
    for (const field of Object.keys(notes)) expect(read).not.toHaveProperty(field);
    expect(read?.actions).toEqual({
      stateDelta: {},
      artifactDelta: {},
      requestedAuthConfigs: {},
      requestedToolConfirmations: {},
    });
  });

  it('ends the turn of a run that fails to clean up', async () => {
    const { adk, sessions } = await opened();
    const runner = { appName: USER.appName, runAsync: failingAtItsEnd } as unknown as Runner;
    const events = adk.runInTurn(runner, { ...RUN, newMessage: message('Hi') });
    await events.next();
    await expect(events.return(undefined)).rejects.toThrow('busy');
    expect(await sessions.getTurn(KEY)).toBeUndefined();
  });

  it('hands out objects of the same kind as ADK: agents may call what they inherit', async () => {
    const { adk } = openServices();
    const state = { name: 'Ann', list: [{ id: 1 }] };
    const stateDelta = { kind: { of: 'order' }, 'user:tone': 'warm', 'temp:step': 1 };
    const [ours, theirs] = await Promise.all(
      [adk, new InMemorySessionService()].map(async (service) => {
        const created = await service.createSession({ ...KEY, state: structuredClone(state) });
        const event = userEvent({
          id: 'e1',
          timestamp: 1_700_000_000_000,
          actions: createEventActions({ stateDelta }),
        });
        const appended = await service.appendEvent({ session: created, event });
        const loaded = await service.getSession(KEY);
        const listed = await service.listSessions({ appName: KEY.appName, userId: KEY.userId });
        // The service of ADK lists sessions without their state.
        return {
          created,
          appended,
          loaded,
          listed: { ...listed.sessions[0], state: Object(listed.sessions[0]?.state).hasOwnProperty('name') },
        };
      }),
    );
    expect(kindsOf(ours)).toEqual(kindsOf(theirs));
    for (const { state: shown } of [ours?.created, ours?.loaded].flatMap((session) => session ?? [])) {
      expect(Object.prototype.hasOwnProperty.call(shown, 'name') && shown.hasOwnProperty('name')).toBe(true);
      expect(shown.hasOwnProperty('constructor')).toBe(false);
      expect(`State: ${shown as unknown as string}`).toBe('State: [object Object]');
      expect('name' in shown).toBe(true);
      const { 'temp:step': _step, ...kept } = shown;
      expect(kept).toStrictEqual({ ...state, kind: { of: 'order' }, 'user:tone': 'warm' });
      expect(structuredClone(kept)).toStrictEqual(JSON.parse(JSON.stringify(kept)));
      expect(inspect(shown)).not.toContain('null prototype');
    }
  });

  it('keeps keys that objects inherit as ordinary keys, and objects that share nothing', async () => {
    const { adk } = openServices();
    const state = JSON.parse('{ "__proto__": { "polluted": 1 }, "constructor": 2, "list": [1] }') as Record<
      string,
      unknown
    >;
    const session = await adk.createSession({ ...KEY, state });
    expect('polluted' in session.state).toBe(false);
    expect(Object.keys(session.state).toSorted()).toEqual(['__proto__', 'constructor', 'list']);
    const stateDelta = JSON.parse('{ "__proto__": { "polluted": 2 } }') as Record<string, unknown>;
    await adk.appendEvent({ session, event: userEvent({ actions: createEventActions({ stateDelta }) }) });
    expect('polluted' in session.state).toBe(false);
    expect(Object.getOwnPropertyDescriptor(session.state, '__proto__')?.value).toEqual({ polluted: 2 });
    (session.state.list as number[]).push(2);
    expect((await adk.getSession(KEY))?.state.list).toEqual([1]);
  });

  it('keeps users apart, and creates a session once', async () => {
    const { adk } = openServices();
    const created = await Promise.all(
      Array.from({ length: 8 }, () => adk.getOrCreateSession({ ...KEY, state: { a: 1 } })),
    );
    expect(created.map(({ id }) => id)).toEqual(Array<string>(8).fill(KEY.sessionId));
    expect(await adk.getSession({ ...KEY, userId: 'bob' })).toBeUndefined();
    await adk.deleteSession({ ...KEY, userId: 'bob' });
    expect((await adk.listSessions({ appName: KEY.appName })).totalItems).toBe(1);
    const generated = await adk.createSession({ ...USER, sessionId: ' ' });
    expect(generated.id).toMatch(/^[0-9a-f-]{36}$/);
    await expect(adk.createSession({ ...USER, sessionId: '..' })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(adk.createSession(KEY)).rejects.toMatchObject({ code: 'SESSION_EXISTS' });
  });

  it('lists more sessions than a page of the store has, in the order of their creation', async () => {
    const { adk } = openServices();
    const ids = Array.from({ length: 1_203 }, (_, index) => `s${String(index).padStart(4, '0')}`);
    for (const sessionId of ids) await adk.createSession({ ...USER, sessionId });
    const all = await adk.listSessions(USER);
    expect(all.sessions.map(({ id }) => id).toSorted()).toEqual(ids);
    expect(all).toMatchObject({ page: 1, limit: 1_203, totalItems: 1_203, totalPages: 1 });
    const most = await adk.listSessions({ ...USER, limit: 1_100, page: 1, order: 'asc' });
    expect(new Set(most.sessions.map(({ id }) => id)).size).toBe(1_100);
    expect(most).toMatchObject({ page: 1, limit: 1_100, totalItems: 1_203, totalPages: 2 });
    const last = await adk.listSessions({ ...USER, limit: 1_100, page: 2, order: 'asc' });
    expect(last.sessions).toHaveLength(103);
    for (const wrong of [{ limit: -1 }, { limit: 1, page: 0 }, { limit: 1, offset: 0.5 }]) {
      await expect(adk.listSessions({ ...USER, ...wrong })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    }
  });
});

function actionsOf(stateDelta: Record<string, unknown>): Event['actions'] {
  return { stateDelta, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} };
}

async function* failingAtItsEnd(): AsyncGenerator<Event> {
  try {
    yield userEvent();
  } finally {
    await Promise.reject(new Error('The tool is busy'));
  }
}
