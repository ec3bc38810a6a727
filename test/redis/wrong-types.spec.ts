import type { Cluster, Redis } from 'ioredis';
import { SessionService } from '../../src/index.js';
import { DEFAULT_TTL } from '../../src/config/session-settings.js';
import type { RedisSessionStorage } from '../../src/redis.js';
import { lifetimesOf } from '../../src/sessions/domain/values/expiry.js';
import { type KeyKind, RedisKeys } from '../../src/sessions/storage/redis/redis-keys.js';
import { ManualClock } from '../../src/testing/index.js';
import { isFastLayer } from '../support/layer.js';
import { type RedisBench, describeRedis } from '../support/redis-servers.js';
import { isEveryStoreWanted } from '../support/rounds.js';

const USER = { appName: 'shop', userId: 'ann' };
const KEY = { ...USER, sessionId: 's-1' };
const SESSION = { ...USER, id: 's-1' };
const OTHER = { ...USER, sessionId: 's-2' };
const DAY = 86_400;
const EXPIRING = { ...DEFAULT_TTL, enabled: true, sessionSeconds: DAY, userStateSeconds: DAY, appStateSeconds: DAY };
const LIVING = { enabled: false };
const TURN = 'turn';
const ENTRY = { space: 'jobs', name: 'job' };
const LEASE = { name: 'job', holder: 'me', ttlMs: 60_000 };

/** A store with a session, and one of its keys, which a test replaces with another type. */
interface Scene {
  readonly sessions: SessionService;
  readonly storage: RedisSessionStorage;
  readonly clock: ManualClock;
  readonly node: Redis | Cluster;
  /** The key to replace. */
  readonly key: string;
  readonly kind: KeyKind;
  /** All keys that the store may use. */
  readonly keys: readonly string[];
}

interface Operation {
  run(scene: Scene): Promise<unknown>;
  /** Checks the result of a complete operation. */
  check?(scene: Scene): Promise<void>;
}

/** Only a large state has a key of its own. */
const LARGE = 'x'.repeat(2_000);
const STATE = { step: 1, large: LARGE, 'user:name': 'Ann', 'app:name': 'Shop' };
const NEXT = { step: 2, large: LARGE, 'user:name': 'Bea', 'app:name': 'Store' };

const OPERATIONS: Readonly<Record<string, Operation>> = {
  create: {
    // On a cluster the session may exist even though the call failed.
    run: ({ sessions }) => sessions.getOrCreateSession({ ...OTHER, state: NEXT }),
    async check({ sessions }) {
      expect((await sessions.getSession(OTHER))?.state.toRecord()).toEqual(NEXT);
      expect((await sessions.listSessions({ appName: 'shop' })).sessions).toHaveLength(2);
    },
  },
  append: {
    run: ({ sessions }) =>
      sessions.append({ session: SESSION, event: { id: 'e-2', author: 'user', actions: { stateDelta: NEXT } } }),
    async check({ sessions }) {
      const session = await sessions.getSession(KEY);
      expect(session?.events.map(({ id }) => id)).toEqual(['e-1', 'e-2']);
      expect(session?.state.toRecord()).toEqual(NEXT);
      expect((await sessions.listSessions(USER)).sessions).toHaveLength(1);
    },
  },
  touch: {
    async run({ storage }) {
      const { record } = (await storage.read({ key: KEY })) ?? {};
      const renew = lifetimesOf(EXPIRING);
      await storage.touch({ key: KEY, incarnation: record?.incarnation ?? '', renew });
    },
  },
  trim: {
    async run({ storage }) {
      const { record } = (await storage.read({ key: KEY })) ?? {};
      if (!record) throw new Error('There is no session');
      const { incarnation, firstSeq, marksSeq } = record;
      await storage.trim({
        key: KEY,
        incarnation,
        firstSeq,
        marksSeq,
        newFirstSeq: 2,
        digests: ['d'],
        baseState: '{}',
      });
    },
  },
  delete: {
    run: ({ sessions }) => sessions.deleteSession(KEY),
    async check({ sessions }) {
      expect(await sessions.getSession(KEY)).toBeUndefined();
      expect((await sessions.listSessions({ appName: 'shop' })).sessions).toEqual([]);
    },
  },
  'write user state': {
    run: ({ sessions }) => sessions.updateUserState({ ...USER, stateDelta: { name: 'Bea' } }),
  },
  'write state of a new user': {
    run: ({ sessions }) => sessions.updateUserState({ ...USER, userId: 'bob', stateDelta: { name: 'Bob' } }),
  },
  'write app state': {
    run: ({ sessions }) => sessions.updateAppState({ appName: 'shop', stateDelta: { name: 'Store' } }),
  },
  'save a partial event': {
    async run({ storage }) {
      const { record } = (await storage.read({ key: KEY })) ?? {};
      const saved = { key: KEY, incarnation: record?.incarnation ?? '', turnToken: TURN, index: 1 };
      await storage.savePartial({ ...saved, messageId: 'm', content: '{}', ttlMs: 1_000 });
    },
  },
  'add agenda entry': { run: ({ storage }) => storage.agenda.put('job', 0) },
  'write entries': {
    async run({ storage }) {
      const next = { stamp: 1, rank: 0, since: 0, text: '', ttlMs: 60_000 };
      await storage.entries.write([{ ...ENTRY, expected: undefined, next }]);
    },
  },
  'acquire lease': { run: ({ storage }) => storage.leases.acquire(LEASE) },
};

/** What an append writes. */
const OF_SESSION = ['session', 'anchors', 'state'].map((kind) => `{app|user}:${kind}`);
const OF_USER = ['user-state', 'by-update', 'expiring'].map((kind) => `{app|user}:${kind}`);
const OF_APP = [...['app-state', 'by-update', 'expiring', 'users'].map((kind) => `{app}:${kind}`), 'apps'];
const PENDING = ['{app|user}:pending', '{app}:app-state'];

/** The scripts are the same. */
const stores = isFastLayer && !isEveryStoreWanted ? (['redis'] as const) : (['redis', 'redis-cluster'] as const);

describeRedis('A key of the wrong type in a $name store', stores, (bench) => {
  const isCluster = (): boolean => bench().name === 'redis-cluster';

  describe.each([
    ['with expiry', EXPIRING],
    ['without expiry', LIVING],
  ])('%s', (_what, ttl) => {
    it.each(Object.entries(OPERATIONS))(
      'makes %s fail without any write, with an error that names the key',
      async (_name, operation) => {
        await inEachPlace(bench(), ttl, async (scene) => {
          const { node, key, kind } = scene;
          const restore = await replaceKey(scene);
          const before = await contentOf(scene);
          const failure: unknown = await operation.run(scene).then(
            () => undefined,
            (error: unknown) => error,
          );
          if (failure) {
            expect(failure).toMatchObject({
              code: 'STORE_UNAVAILABLE',
              message: expect.stringContaining(
                `The key ${kind.name} of Redis holds a ${await node.type(key)}`,
              ) as string,
            });
            const { outcomeUnknown } = failure as { outcomeUnknown: boolean };
            // On a cluster the keys of the app are written after the session.
            if (!isCluster()) expect({ key, outcomeUnknown }).toEqual({ key, outcomeUnknown: false });
            if (!outcomeUnknown) expect(await contentOf(scene)).toEqual(before);
          }
          await restore();
          await operation.run(scene);
          await operation.check?.(scene);
        });
      },
    );
  });

  it('is refused by an append only if the append writes it', async () => {
    const refused = new Set<string>();
    await inEachPlace(bench(), EXPIRING, async (scene) => {
      await replaceKey(scene);
      await OPERATIONS.append?.run(scene).catch(() => refused.add(scene.kind.name));
    });
    expect([...refused].toSorted()).toEqual(
      [...OF_SESSION, ...OF_USER, ...(isCluster() ? PENDING : OF_APP)].toSorted(),
    );
  });

  it('does not affect other sessions, and stays unchanged', async () => {
    const record = new RedisKeys('').recordOf(KEY);
    const scene = await newScene(bench(), { client: bench().client(), place: 0, key: record, ttl: LIVING });
    const { sessions, node, key } = scene;
    await replaceKey(scene);
    await expect(sessions.getSession(KEY)).rejects.toThrow('The key {app|user}:session of Redis holds a list');
    await sessions.createSession(OTHER);
    expect(await node.lrange(key, 0, -1)).toEqual(['foreign']);
  });

  it('stops a purge until it is removed', async () => {
    await inEachPlace(bench(), EXPIRING, async (scene) => {
      const { sessions, clock } = scene;
      clock.advanceSeconds(2 * DAY);
      const restore = await replaceKey(scene);
      await sessions.purgeExpired().catch(() => undefined);
      await restore();
      // Claims end after a minute.
      clock.advanceSeconds(61);
      await sessions.purgeExpired();
      const left = Object.keys(await contentOf(scene)).filter((key) => !/:apps$|\{@/.test(key));
      expect({ key: scene.key, left }).toEqual({ key: scene.key, left: [] });
    });
  });
});

/** Runs the same work on one store per key. */
async function inEachPlace(bench: RedisBench, ttl: object, work: (scene: Scene) => Promise<void>): Promise<void> {
  const client = bench.client();
  await client.ping();
  const scenes = await Promise.all(keysOf(bench).map((key, place) => newScene(bench, { client, place, key, ttl })));
  await Promise.all(scenes.map(work));
}

/** All keys of a scene, without their prefix. */
function keysOf({ name }: RedisBench): string[] {
  const keys = new RedisKeys('');
  const { appName } = USER;
  const ofOther = keys.ofSession(OTHER).slice(0, 5);
  const ofCluster = name === 'redis-cluster' ? [] : keys.indexesOf({ appName });
  return [
    ...keys.ofSession(KEY),
    ...ofOther,
    keys.stateOf({ appName }),
    keys.usersOf(appName),
    keys.apps,
    ...ofCluster,
    ...keys.entries(undefined),
    ...keys.ranksOf(ENTRY.space),
    ...keys.ranksOf('lease'),
    ...keys.ranksOf('agenda'),
  ];
}

interface Place {
  readonly client: Redis | Cluster;
  readonly place: number;
  /** Without the prefix. */
  readonly key: string;
  readonly ttl: object;
}

async function newScene(bench: RedisBench, { client: node, place, key, ttl }: Place): Promise<Scene> {
  const clock = new ManualClock();
  const prefix = `${bench.prefix}${place}:`;
  const storage = bench.storage({ client: node, prefix, clock });
  const sessions = new SessionService({ storage, ttl });
  await sessions.createSession({ ...KEY, state: STATE });
  await sessions.appendEvent({ session: SESSION, event: { id: 'e-1', author: 'user' } });
  await storage.turn({ action: 'begin', key: KEY, token: TURN, holder: 'me', requestId: TURN, ttlMs: 60_000 });
  clock.advanceSeconds(1);
  const kind = new RedisKeys(prefix).kindOf(prefix + key);
  if (!kind) throw new Error(`${key} is no key of the store`);
  return { sessions, storage, clock, node, key: prefix + key, kind, keys: keysOf(bench).map((name) => prefix + name) };
}

/** Replaces a key with another type. Returns a function that restores it, unless the store has removed the other type. */
async function replaceKey({ node, key, kind }: Scene): Promise<() => Promise<void>> {
  const kept = await node.dumpBuffer(key);
  const livesForMs = await node.pttl(key);
  await node.del(key);
  await (kind.type === 'zset' ? node.sadd(key, 'foreign') : node.rpush(key, 'foreign'));
  const foreign = await node.type(key);
  return async () => {
    if ((await node.type(key)) !== foreign) return;
    await node.del(key);
    if (kept) await node.restore(key, Math.max(livesForMs, 0), kept);
  };
}

/** All keys with their values, as bytes; hashes by field, because Redis keeps no order in them. */
async function contentOf({ node, keys }: Scene): Promise<Record<string, unknown>> {
  const found = await Promise.all(keys.map((key) => valueOf(node, key)));
  return Object.fromEntries(found.flatMap((value, place) => (value === undefined ? [] : [[keys[place] ?? '', value]])));
}

async function valueOf(node: Scene['node'], key: string): Promise<unknown> {
  if ((await node.type(key)) === 'hash') return node.hgetall(key);
  return (await node.dumpBuffer(key))?.toString('hex');
}
