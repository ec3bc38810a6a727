import { HealthIndicatorService } from '@nestjs/terminus';
import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { type Finding, diagnose } from '../../src/doctor/index.js';
import { SessionsDoctorHealth } from '../../src/health/index.js';
import { entriesBytes } from '../../src/sessions/domain/stored/byte-budget.js';
import { NO_COUNTS } from '../../src/sessions/domain/stored/counters.js';
import { ownEntries } from '../../src/sessions/storage/state-entries.js';
import type { OwnState, SessionStorage } from '../../src/storage.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { FOREVER, createTestCommit } from '../../src/testing/storage-contract/support.js';
import { storeOfEachEncoding } from '../support/stores.js';

const KEY = { appName: 'shop', userId: 'ann b', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann b', id: 's-1' };
const LIMITS = { maxSessionStateBytes: 100, maxUserStateBytes: 60, maxAppStateBytes: 40 };
const LARGEST = 100;

const codes = (findings: readonly Finding[]): string[] => findings.map(({ code }) => code).toSorted();

const expectSmall = (state?: OwnState): void => expect(entriesBytes(ownEntries(state))).toBeLessThanOrEqual(LARGEST);

/** Refuses to load more state than any scope may have. */
function watched(storage: SessionStorage): SessionStorage {
  const read: SessionStorage['read'] = async (request) => {
    const stored = await storage.read(request);
    for (const entries of Object.values(stored?.state ?? {})) expectSmall(entries as OwnState);
    return stored;
  };
  const readState: SessionStorage['readState'] = async (...args) => {
    const entries = await storage.readState(...args);
    expectSmall(entries);
    return entries;
  };
  return new Proxy(storage, {
    get: (target, name) => {
      const own = { read, readState }[String(name)];
      const value: unknown = own ?? Reflect.get(target, name, target);
      return typeof value === 'function' && !own ? (value.bind(target) as unknown) : value;
    },
  });
}

describe.each(storeOfEachEncoding)('The doctor of a $name store, where state is larger than its limit', ({ open }) => {
  let opened: OpenStorage;
  let sessions: SessionService;

  beforeEach(async () => {
    opened = await open({});
    sessions = new SessionService({ storage: opened.storage });
    await sessions.createSession(KEY);
  });
  afterEach(() => opened.destroy());

  const set = (stateDelta: Record<string, unknown>, stateRemovals: string[] = []): Promise<unknown> =>
    sessions.appendEvent({ session: SESSION, event: { author: 'agent', actions: { stateDelta, stateRemovals } } });
  const check = (options: object = {}): ReturnType<typeof diagnose> =>
    diagnose({ storage: watched(opened.storage), limits: LIMITS, ...options });

  it.each([
    ['session', 'k', "shop 'ann b' s-1", KEY],
    ['user', 'user:k', "shop 'ann b'", { appName: 'shop', userId: 'ann b' }],
    ['app', 'app:k', 'shop', { appName: 'shop' }],
  ] as const)(
    'it names the %s once, with the way to shrink it, and does not load it',
    async (scope, key, ids, owner) => {
      await sessions.createSession({ ...KEY, sessionId: 's-2' });
      await set({ [key]: 'x'.repeat(200), small: 1 });
      const finding = { code: 'STATE_TOO_LARGE', severity: 'error', ...owner, repaired: false };
      for (const where of [{}, { ...KEY, sessionId: undefined }, KEY]) {
        const { findings, isHealthy } = await check(where);
        expect(findings).toMatchObject([finding]);
        expect(isHealthy).toBe(false);
        const name = { session: 'Session', user: 'User', app: 'App' }[scope];
        const most = LIMITS[`max${name}StateBytes` as keyof typeof LIMITS];
        const bytes = scope === 'session' ? 209 : 203;
        expect(findings[0]?.detail).toBe(
          `the state of the ${scope} has ${bytes} bytes; at most ${most} are allowed (limits.max${name}StateBytes). ` +
            `\`agent-sessions state ${ids}\` lists its keys by size, and \`--remove <key>\` removes one`,
        );
      }
      await set({}, [key]);
      expect(await check()).toMatchObject({ isHealthy: true, findings: [] });
    },
  );

  it('it mends all but the state, which it leaves as it is', async () => {
    await set({ k: 'x'.repeat(200) });
    const counterIncrements = { ...NO_COUNTS, events: 3 };
    const actions = { stateDelta: { ghost: 1 } };
    const payload = JSON.stringify({ id: 'e', invocationId: '', author: 'a', timestamp: 1, actions });
    const upserts = [{ scope: 'session', name: 'ghost', value: '1' } as const];
    await opened.storage.append(createTestCommit('e', { key: KEY, counterIncrements, upserts, event: { payload } }));
    const left = { code: 'STATE_TOO_LARGE', repaired: false };
    const mended = { code: 'COUNTERS_DIFFER', repaired: true };
    const { findings } = await check({ repair: true });
    expect(findings).toEqual(
      expect.arrayContaining([left, mended].map((one) => expect.objectContaining(one) as Finding)),
    );
    expect(codes((await check()).findings)).toEqual(['STATE_TOO_LARGE']);
    expect((await sessions.getSession(KEY))?.state.toRecord()).toEqual({ k: 'x'.repeat(200), ghost: 1 });
  });

  it('it does not build more from events than is loaded', async () => {
    for (const key of ['a', 'b', 'c']) {
      await set({ [`user:${key}`]: 'x'.repeat(200) });
      const removals = [{ scope: 'user', name: key }] as const;
      await opened.storage.writeState({
        owner: { appName: 'shop', userId: 'ann b' },
        upserts: [],
        removals,
        lifetime: FOREVER.user,
      });
    }
    const { findings, isHealthy } = await check(KEY);
    expect(findings).toMatchObject([{ code: 'STATE_NOT_COMPARED', severity: 'warning', ...KEY }]);
    expect(isHealthy).toBe(true);
  });
});

it('The doctor takes the limits of the service', async () => {
  const storage = new InMemorySessionStorage();
  const usual = new SessionService({ storage });
  await usual.createSession({ ...KEY, state: { k: 'x'.repeat(200) } });
  const strict = new SessionService({ storage, limits: LIMITS });
  expect(await diagnose({ sessions: usual })).toMatchObject({ isHealthy: true });
  expect(codes((await diagnose({ sessions: strict })).findings)).toEqual(['STATE_TOO_LARGE']);

  const health = new SessionsDoctorHealth(new HealthIndicatorService(), storage, strict);
  await health.isHealthy('store', { everyMs: 0, pauseMs: 0 });
  await health.settled();
  expect(await health.isHealthy('store')).toMatchObject({ store: { status: 'down', counts: { STATE_TOO_LARGE: 1 } } });
  await health.onModuleDestroy();
});
