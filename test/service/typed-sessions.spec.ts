import { z } from 'zod';
import {
  InMemorySessionStorage,
  InvalidInputError,
  SessionService,
  type TypedSession,
  type TypedSessions,
  defineState,
  renderInstruction,
  typedSessions,
} from '../../src/index.js';
import { toMessages } from '../../src/agents/index.js';

const shopState = defineState({
  step: z.number(),
  cart: z.array(z.object({ id: z.number() })),
  'user:theme': z.enum(['light', 'dark']),
  'app:motto': z.string(),
});
const USER = { appName: 'shop', userId: 'ann' };
const KEY = { ...USER, sessionId: 's-1' };

/** The compiler checks that the value has exactly this type. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const isSame = <A, B>(same: Same<A, B>): boolean => same;

describe('sessions with typed state', () => {
  let service: SessionService;
  let sessions: TypedSessions<typeof shopState>;

  beforeEach(() => {
    service = new SessionService({ storage: new InMemorySessionStorage(), state: shopState });
    sessions = typedSessions(service, shopState);
  });

  afterEach(() => service.close());

  it('are the same service', () => {
    expect(sessions).toBe(service);
  });

  it('have values with the types of the schemas', async () => {
    const session = await sessions.createSession({ ...KEY, state: { step: 1, 'user:theme': 'dark', 'temp:note': 1 } });
    expect(isSame<typeof session, TypedSession<typeof shopState>>(true)).toBe(true);
    const { step, cart, 'user:theme': theme } = session.state;
    expect(isSame<typeof step, number | undefined>(true)).toBe(true);
    expect(isSame<typeof cart, { id: number }[] | undefined>(true)).toBe(true);
    expect(isSame<typeof theme, 'light' | 'dark' | undefined>(true)).toBe(true);
    const total: number = session.state.get('step', 0) + 1;
    session.state.step = total;
    session.state.set('cart', [{ id: 7 }]);
    await sessions.updateSession(session);

    const loaded = await sessions.getSession(KEY);
    const ids: number[] | undefined = loaded?.state.cart?.map(({ id }) => id);
    expect([loaded?.state.step, ids]).toEqual([2, [7]]);
    const page = await sessions.listSessions(USER);
    expect(page.sessions.map(({ state }): number | undefined => state.step)).toEqual([2]);
    const { state } = await sessions.stateAt({ ...KEY, seq: 0 });
    const first: number | undefined = state.step;
    expect(first).toBe(1);
    const { theme: ofUser } = await sessions.getUserState(USER);
    expect(isSame<typeof ofUser, 'light' | 'dark' | undefined>(true)).toBe(true);
    const fork = await sessions.forkSession(KEY);
    expect(isSame<typeof fork, typeof session>(true)).toBe(true);
  });

  it('take what the schemas take, in events and in shared state', async () => {
    const session = await sessions.getOrCreateSession(KEY);
    const actions = {
      stateDelta: { step: 3, 'temp:hint': 'x' },
      stateRemovals: ['cart' as const],
      transferToAgent: 'b',
    };
    await sessions.appendEvent({ session, event: { author: 'agent', actions, customMetadata: { ownField: true } } });
    await sessions.appendEvents({
      session,
      events: [{ author: 'agent', actions: { stateDelta: { 'app:motto': 'hi' } } }],
    });
    await sessions.updateUserState({ ...USER, stateDelta: { theme: 'light' }, stateRemovals: [] });
    await sessions.updateAppState({ appName: 'shop', stateDelta: { motto: 'ho' } });
    expect((await sessions.getSession(KEY))?.state.toRecord()).toEqual({
      step: 3,
      'user:theme': 'light',
      'app:motto': 'ho',
    });
    // Other parts of the package take its sessions.
    expect(await renderInstruction('At {step}', session)).toBe('At 3');
    expect(toMessages(session, { format: 'google' })).toEqual([]);
  });

  it('take from a change what its callback returns, sets or leaves, and refuse keys that are not defined', async () => {
    await sessions.createSession(KEY);
    const said = { author: 'agent' };
    await sessions.change(KEY, ({ state }) => [
      { ...said, actions: { stateDelta: { step: (state.step ?? 0) + 1, 'user:theme': 'dark', 'temp:note': 1 } } },
      said,
    ]);
    await sessions.change(KEY, async ({ state }) => {
      if (state.step === 7) return undefined;
      return [{ ...said, actions: { stateDelta: { step: 2 }, stateRemovals: ['cart'] } }];
    });
    await sessions.change(KEY, ({ state }) => void (state.step = 3));
    await sessions.change(KEY, async () => undefined);
    expect((await sessions.getSession(KEY))?.state.toRecord()).toMatchObject({ step: 3, 'user:theme': 'dark' });

    const changes: (() => Promise<unknown>)[] = [
      // @ts-expect-error the key is not defined
      () => sessions.change(KEY, () => [{ ...said, actions: { stateDelta: { nope: 1 } } }]),
      // @ts-expect-error the key is not defined
      () => sessions.change(KEY, async () => [{ ...said, actions: { stateDelta: { step: 1, nope: 1 } } }]),
      // @ts-expect-error the key is not defined
      () => sessions.change(KEY, () => [said, { ...said, actions: { stateDelta: { nope: 2, step: 1 } } }]),
      // @ts-expect-error the value has another type
      () => sessions.change(KEY, () => [{ ...said, actions: { stateDelta: { step: 'one' } } }]),
      // @ts-expect-error the key is not defined
      () => sessions.change(KEY, ({ state }) => state.update({ nope: 1 })),
    ];
    for (const change of changes) await expect(change()).rejects.toBeInstanceOf(InvalidInputError);
  });

  it('refuse everything else: the compiler, and the service', async () => {
    const session = await sessions.createSession(KEY);
    const writes: (() => Promise<unknown>)[] = [
      // @ts-expect-error the value has another type
      () => sessions.createSession({ ...USER, state: { step: 'one' } }),
      // @ts-expect-error the key is not defined
      () => sessions.createSession({ ...USER, state: { nope: 1 } }),
      // @ts-expect-error the value has another type
      () => sessions.appendEvent({ session, event: { author: 'a', actions: { stateDelta: { 'user:theme': 'red' } } } }),
      // @ts-expect-error the key is not defined
      () => sessions.append({ session, event: { author: 'a', actions: { stateDelta: { nope: 1 } } } }),
      // @ts-expect-error the value has another type
      () => sessions.appendEvents({ session, events: [{ author: 'a', actions: { stateDelta: { cart: [{}] } } }] }),
      // @ts-expect-error the value has another type
      () => sessions.updateUserState({ ...USER, stateDelta: { theme: 7 } }),
      // @ts-expect-error the key is not defined
      () => sessions.updateAppState({ appName: 'shop', stateDelta: { nope: 1 } }),
      () => {
        // @ts-expect-error the value has another type
        session.state.step = 'two';
        return sessions.updateSession(session);
      },
    ];
    for (const write of writes) await expect(write()).rejects.toBeInstanceOf(InvalidInputError);
    // @ts-expect-error the key is not defined
    expect(session.state.nope).toBeUndefined();
    // @ts-expect-error the key is not defined
    expect(session.state.get('nope')).toBeUndefined();
    // @ts-expect-error the key is not defined
    const removal = { author: 'a', actions: { stateRemovals: ['nope'] } } satisfies Parameters<
      typeof sessions.append
    >[0]['event'];
    expect(removal.author).toBe('a');
  });
});
