import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import { InMemorySessionStorage, InvalidInputError, SessionService, defineState } from '../../src/index.js';
import type { StandardSchema } from '../../src/state/standard-schema.js';
import type { StateDefinitions } from '../../src/state/define-state.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's1' };
const JSON_SCHEMAS = { step: { type: 'number' }, 'user:theme': { enum: ['light', 'dark'] }, cart: { type: 'array' } };

/** The same state by each library. valibot gives no JSON Schemas. */
const LIBRARIES = {
  zod: defineState({
    step: z.number(),
    'user:theme': z.enum(['light', 'dark']),
    'app:motto': z.string().max(20),
    'temp:hint': z.string(),
    cart: z.array(z.object({ id: z.number() })),
  }),
  valibot: defineState(
    {
      step: v.number(),
      'user:theme': v.picklist(['light', 'dark']),
      'app:motto': v.pipe(v.string(), v.maxLength(20)),
      'temp:hint': v.string(),
      cart: v.array(v.object({ id: v.number() })),
    },
    { jsonSchemas: JSON_SCHEMAS },
  ),
  arktype: defineState({
    step: type('number'),
    'user:theme': type("'light' | 'dark'"),
    'app:motto': type('string <= 20'),
    'temp:hint': type('string'),
    cart: type({ id: 'number' }).array(),
  }),
};

function serviceWith(state: StateDefinitions | undefined): SessionService {
  return new SessionService({ storage: new InMemorySessionStorage(), state });
}

/** Expects a refusal that does not repeat the value. */
async function refused(write: Promise<unknown>, at: string): Promise<void> {
  const error = await write.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(InvalidInputError);
  expect(error).toMatchObject({ code: 'INVALID_INPUT', path: at });
  expect(String(error)).not.toContain('secret');
}

describe.each(Object.entries(LIBRARIES))('A state defined with %s', (_library, definition) => {
  let sessions: SessionService;
  beforeEach(async () => {
    sessions = serviceWith(definition);
    await sessions.createSession(KEY);
  });

  const fitting = { step: 1, 'user:theme': 'dark', 'app:motto': 'Be brief', 'temp:hint': 'now', cart: [{ id: 7 }] };

  it('accepts values that fit, and stores them as they are', async () => {
    const created = await sessions.createSession({ ...KEY, sessionId: 's2', state: fitting });
    const session = await sessions.appendEvent({
      session: created,
      event: { author: 'ann', actions: { stateDelta: fitting, stateRemovals: ['unknown'] } },
    });
    expect(session.actions.stateDelta).toEqual({
      step: 1,
      'user:theme': 'dark',
      'app:motto': 'Be brief',
      cart: [{ id: 7 }],
    });
    created.state.step = 2;
    await sessions.updateSession(created);
    await sessions.updateUserState({ ...KEY, stateDelta: { theme: 'light' } });
    await sessions.updateAppState({ appName: 'shop', stateDelta: { 'app:motto': 'Be kind' } });
    const { state } = (await sessions.getSession({ ...KEY, sessionId: 's2' })) ?? {};
    expect(state?.getAll()).toEqual({ step: 2, 'user:theme': 'light', 'app:motto': 'Be kind', cart: [{ id: 7 }] });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['another type', { step: 'secret' }, 'step'],
    ['null', { step: null }, 'step'],
    ['no value of an enumeration', { 'user:theme': 'secret' }, '["user:theme"]'],
    ['a longer text', { 'app:motto': 'secret'.repeat(9) }, '["app:motto"]'],
    ['a key of the invocation', { 'temp:hint': 7 }, '["temp:hint"]'],
    ['a field inside', { cart: [{ id: 1 }, { id: 'secret' }] }, 'cart[1].id'],
    ['a key that is not defined', { steps: 1 }, 'steps'],
    ['a key that is defined for another scope', { theme: 'dark' }, 'theme'],
    ['a key that objects inherit', { constructor: 1 }, 'constructor'],
  ])('refuses %s in every write, and writes nothing', async (_title, stateDelta, place) => {
    const session = await sessions.getOrCreateSession(KEY);
    const actions = { stateDelta };
    const path = `$.actions.stateDelta${place.startsWith('[') ? place : `.${place}`}`;
    await refused(sessions.appendEvent({ session, event: { author: 'ann', actions } }), path);
    const batch = [{ author: 'ann' }, { author: 'ann', actions }];
    await refused(sessions.appendEvents({ session, events: batch }), path.replace('$', '$.events[1]'));
    await refused(
      sessions.createSession({ ...KEY, sessionId: 's2', state: stateDelta }),
      path.replace('actions.stateDelta', 'state'),
    );
    if (!Object.keys(stateDelta)[0]?.startsWith('temp:')) {
      session.state.update(stateDelta);
      await refused(sessions.updateSession(session), path);
    }
    expect((await sessions.listEvents(KEY)).events).toEqual([]);
    expect(await sessions.getSession({ ...KEY, sessionId: 's2' })).toBeUndefined();
  });

  it('refuses shared state by its key with prefix', async () => {
    await expect(sessions.updateUserState({ ...KEY, stateDelta: { theme: 'blue' } })).rejects.toMatchObject({
      path: '$.stateDelta["user:theme"]',
    });
    await expect(sessions.updateAppState({ appName: 'shop', stateDelta: { step: 1 } })).rejects.toMatchObject({
      path: '$.stateDelta["app:step"]',
    });
  });

  it('describes itself as JSON Schema', () => {
    expect(definition.jsonSchema()).toMatchObject({
      type: 'object',
      properties: { step: JSON_SCHEMAS.step, cart: { type: 'array' }, 'user:theme': { enum: expect.any(Array) } },
      additionalProperties: false,
    });
  });
});

describe('A defined state', () => {
  it('gives the types of its values', async () => {
    const sessions = serviceWith(LIBRARIES.zod);
    const session = await sessions.createSession(KEY);
    const state = LIBRARIES.zod.of(session);
    state.step = 1;
    const step: number | undefined = state.step;
    const theme: 'light' | 'dark' = state.get('user:theme', 'light');
    state.update({ cart: [{ id: step }] });
    // @ts-expect-error no number
    state.set('user:theme', 7);
    // @ts-expect-error no key
    state.get('stepp');
    // @ts-expect-error no key
    expect(state.stepp).toBeUndefined();
    expect([step, theme, state.has('cart')]).toEqual([1, 'light', true]);
    const same: unknown = session.state;
    expect(state).toBe(same);
  });

  it('allows other keys if it says so, and all keys of the invocation', async () => {
    const open = serviceWith(defineState({ step: z.number() }, { otherKeys: 'allow' }));
    await open.createSession({ ...KEY, state: { any: 1 } });
    await expect(open.createSession({ ...KEY, sessionId: 's2', state: { step: 'x' } })).rejects.toThrow('$.state.step');
    await serviceWith(defineState({})).createSession({ ...KEY, state: { 'temp:any': 1 } });
  });

  it('names the keys that there are', async () => {
    await expect(serviceWith(LIBRARIES.zod).createSession({ ...KEY, state: { stepp: 1 } })).rejects.toThrow(
      '$.state.stepp: is not defined; the state has "step", "user:theme", "app:motto", "temp:hint", "cart"',
    );
  });

  it('can differ by app', async () => {
    const sessions = serviceWith({ shop: defineState({ step: z.number() }) });
    await expect(sessions.createSession({ ...KEY, state: { step: 'x' } })).rejects.toThrow(InvalidInputError);
    await sessions.createSession({ ...KEY, appName: 'toString', state: { step: 'x' } });
  });

  it('stores what was written, not what a schema makes of it', async () => {
    const sessions = serviceWith(defineState({ step: z.coerce.number().default(7) }));
    const session = await sessions.createSession({ ...KEY, state: { step: '3' } });
    expect(session.state.step).toBe('3');
  });

  it('does not hinder a rewind to values of before', async () => {
    const storage = new InMemorySessionStorage();
    const before = new SessionService({ storage });
    const session = await before.createSession({ ...KEY, state: { step: 'one' } });
    await before.appendEvent({ session, event: { author: 'ann', actions: { stateDelta: { step: 2 } } } });
    const now = new SessionService({ storage, state: defineState({ step: z.number() }) });
    const rewound = await now.rewindSession({ ...KEY, toSeq: 0 });
    expect(rewound.state.step).toBe('one');
    const fork = await now.forkSession({ ...KEY, newSessionId: 's2' });
    expect(fork.state.step).toBe('one');
  });

  it('refuses schemas that answer later, when a value is written', async () => {
    const sessions = serviceWith(defineState({ step: z.number().refine(() => Promise.resolve(true)) }));
    const later: StandardSchema = {
      '~standard': { version: 1, vendor: 'slow', validate: () => Promise.resolve({ value: 1 }) },
    };
    await expect(sessions.createSession({ ...KEY, state: { step: 1 } })).rejects.toThrow('validates asynchronously');
    await expect(serviceWith(defineState({ later })).createSession({ ...KEY, state: { later: 1 } })).rejects.toThrow(
      TypeError,
    );
  });

  it('refuses what is no schema', () => {
    expect(() => defineState({ step: 'number' as unknown as StandardSchema })).toThrow(
      'step: must be a Standard Schema',
    );
    expect(() => serviceWith({ shop: {} } as unknown as StateDefinitions)).toThrow(
      'it must be what defineState() returns',
    );
  });

  it('says that a schema may have thrown, which zod then tries asynchronously', async () => {
    const sessions = serviceWith(defineState({ of: z.custom<{ id: 1 }>((value) => (value as { id: 1 }).id === 1) }));
    await expect(sessions.createSession({ ...KEY, state: { of: null } })).rejects.toThrow('a function in it threw');
  });

  it.each([null, undefined, 'four'])('says that a schema answers %j', async (answer) => {
    const own: StandardSchema = { '~standard': { version: 1, vendor: 'own', validate: () => answer as never } };
    const sessions = serviceWith(defineState({ step: own }));
    await expect(sessions.createSession({ ...KEY, state: { step: 1 } })).rejects.toThrow(
      'A schema of own answered neither a value nor issues',
    );
  });

  it.each([
    [{ otherkeys: 'allow' }, 'otherkeys: is no option; there are otherKeys and jsonSchemas'],
    [{ otherKeys: 'alow' }, 'otherKeys: must be allow or refuse'],
    [{ jsonSchemas: { stpe: {} } }, 'jsonSchemas.stpe: is not among the schemas'],
    [{ jsonSchemas: [] }, 'jsonSchemas: must be an object'],
    [null, 'options: must be an object'],
  ])('refuses the options %j, which would have no effect', (options, problem) => {
    expect(() => defineState({ step: z.number() }, options as never)).toThrow(problem);
  });

  it.each([[null], [[z.number()]]])('refuses schemas without keys', (schemas) => {
    expect(() => defineState(schemas as never)).toThrow('schemas: must be an object');
  });

  it('describes no key whose schema has no JSON Schema', () => {
    const definition = defineState({ at: z.date(), name: v.string() });
    expect(definition.jsonSchema()).toEqual({
      type: 'object',
      properties: { at: {}, name: {} },
      additionalProperties: false,
    });
  });
});
