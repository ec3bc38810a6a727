import { StoreUnavailableError } from '../../src/index.js';
import { requiredBinary } from '../support/processes/killable-stores.js';
import { inStore } from '../support/processes/session-checks.js';
import { sharedRedisCluster } from '../support/processes/shared-redis.js';
import { type SharedStore, describeChosen } from '../support/processes/shared-stores.js';
import { RetryingWriters, expectNothingLost } from '../support/processes/retrying-writers.js';
import { nodeAddresses } from '../support/redis-store.js';
import { checkReplicas, startCluster, until } from '../servers/redis-cluster.js';
import { withRedis } from '../servers/redis-login.js';
import type { StartedServer } from '../servers/server-kind.js';

const NODE_TIMEOUT_MS = 2_000;
const COMMAND_TIMEOUT_MS = 4_000;
const REPLICAS_TIMEOUT_MS = 2_000;
/** For a connection and all three scripts: of the session, of its app, and the one that clears pending writes. */
const CALL_LIMIT_MS = COMMAND_TIMEOUT_MS + REPLICAS_TIMEOUT_MS;
/** A busy machine may be slow; a call that hangs never ends. */
const SLACK_MS = 10_000;
const EVENTS_BEFORE_KILL = 150;
const APP = 'shop';
const SESSIONS = ['ann', 'bob', 'cid', 'dan'].map((userId) => ({ appName: APP, userId, id: `of ${userId}` }));

describeChosen('A $name store whose master is killed under load', [{ name: 'redis-cluster' as const }], () => {
  let cluster: StartedServer | undefined;
  let store: SharedStore;
  let writers: RetryingWriters | undefined;

  beforeAll(async () => {
    cluster = await startCluster(requiredBinary('redis-server'), { replicas: 1, nodeTimeoutMs: NODE_TIMEOUT_MS });
    store = sharedRedisCluster(nodeAddresses(cluster.address), {
      commandTimeoutMs: COMMAND_TIMEOUT_MS,
      waitReplicas: { count: 1, timeoutMs: REPLICAS_TIMEOUT_MS },
    });
    await inStore(store, async (sessions) => {
      for (const { id: sessionId, ...user } of SESSIONS) await sessions.createSession({ ...user, sessionId });
    });
    writers = await RetryingWriters.open(store.description, SESSIONS);
  });

  afterAll(async () => {
    await writers?.close();
    await cluster?.stop();
  });

  it('continues on a replica, with every acknowledged event exactly once', async () => {
    if (!cluster || !writers) throw new Error('Not started');
    // All writers write to the app, so the kill affects all of them.
    const [{ address, processes }, all] = [cluster, writers];
    const addresses = address.split(',').map((host) => `redis://${host}`);
    const master = await masterOf(addresses[0], `{${APP}}`);
    const node = processes[addresses.indexOf(master)];
    const other = addresses.find((candidate) => candidate !== master);
    await all.writeAround(EVENTS_BEFORE_KILL, async () => {
      await node?.kill();
      await all.allRefused();
      await until(async () => expect(await masterOf(other, `{${APP}}`)).not.toBe(master));
      const successor = await masterOf(other, `{${APP}}`);
      // The new master needs it as a replica to confirm writes.
      await node?.restart();
      await until(() => checkReplicas(successor, 1));
      await all.allAcknowledged();
    });

    expect(all.errors.filter((error) => !(error instanceof StoreUnavailableError))).toEqual([]);
    expect(all.longestCallMs).toBeLessThan(CALL_LIMIT_MS + SLACK_MS);
    await inStore(store, async (sessions) => {
      await expectNothingLost(sessions, all);
      expect((await sessions.listSessions({ appName: APP })).sessions).toHaveLength(SESSIONS.length);
      const created = await sessions.createSession({ ...SESSIONS[0], appName: APP, userId: 'eve' });
      await sessions.appendEvent({ session: created, event: { author: 'user' } });
      await sessions.deleteSession({ appName: APP, userId: 'eve', sessionId: created.id });
    });
    await store.checkIntegrity();
  });
});

/** The master of a key, according to another node. */
async function masterOf(address = '', key: string): Promise<string> {
  return withRedis(address, async (client) => {
    const slot = await client.cluster('KEYSLOT', key);
    const shares = await client.cluster('SLOTS');
    const [, , [host, port] = []] = shares.find(([first, last]) => first <= slot && slot <= last) ?? [];
    return `redis://${String(host)}:${String(port)}`;
  });
}
