import { promote, startSynchronousStandby, askPostgres } from '../../servers/postgres-standby.js';
import { startPostgres } from '../../servers/private-postgres.js';
import { startRedis } from '../../servers/private-redis.js';
import { checkReplicas, until } from '../../servers/redis-cluster.js';
import { withRedis } from '../../servers/redis-login.js';
import { MASTER_NAME, startSentinel } from '../../servers/redis-sentinel.js';
import { postgresServer } from '../sql-servers.js';
import type { StoreName } from '../store-names.js';
import { until as untilTrue } from '../until.js';
import { requiredBinary } from './killable-stores.js';
import { LoadBalancer } from './load-balancer.js';
import { newSharedDatabase } from './shared-databases.js';
import { sharedRedisBehindSentinel } from './shared-redis.js';
import type { SharedStore } from './shared-stores.js';

/** A store whose server has another one that takes over, and acknowledges nothing that the other one lacks. */
export interface FailingOver {
  readonly store: SharedStore;
  /** Kills the server. */
  kill(): Promise<void>;
  /** Resolves when the other one has taken over. */
  takeOver(): Promise<void>;
  stop(): Promise<void>;
}

export interface FailingOverKind {
  readonly name: StoreName;
  start(): Promise<FailingOver>;
}

const TIME_LIMIT_MS = 2_000;
const COMMAND_TIMEOUT_MS = 4_000;
const DOWN_AFTER_MS = 1_000;

export const failingOver: readonly FailingOverKind[] = [
  { name: 'postgres', start: startPostgresWithStandby },
  { name: 'redis', start: startRedisBehindSentinel },
];

/** What leads clients to the primary is a proxy here, as a service of Kubernetes, HAProxy or a pooler does. */
async function startPostgresWithStandby(): Promise<FailingOver> {
  const command = requiredBinary('postgres');
  const primary = await startPostgres({ command, initdb: requiredBinary('initdb') }, { durable: true });
  const standby = await startSynchronousStandby({ command, backup: requiredBinary('pg_basebackup') }, primary);
  await untilTrue(async () => {
    const [replication] = await askPostgres(primary.address, 'SELECT sync_state FROM pg_stat_replication');
    return replication?.sync_state === 'sync';
  }, 'The standby does not follow');
  const proxy = await LoadBalancer.start();
  proxy.add(portOf(primary));
  const address = new URL(primary.address);
  address.port = new URL(proxy.url).port;
  const store = await newSharedDatabase(postgresServer, { address: address.href, timeLimitMs: TIME_LIMIT_MS });
  return {
    store,
    kill: () => primary.kill(),
    async takeOver() {
      await promote(standby);
      proxy.remove(portOf(primary));
      proxy.add(portOf(standby));
    },
    async stop() {
      proxy.close();
      await Promise.all([primary.stop(), standby.stop()]);
    },
  };
}

const portOf = ({ address }: { readonly address: string }): number => Number(new URL(address).port);

/** A replica refuses the writes of other checks. */
const responds = (address: string): Promise<unknown> => withRedis(address, (client) => client.ping());

async function startRedisBehindSentinel(): Promise<FailingOver> {
  const command = requiredBinary('redis-server');
  const args = ['--repl-diskless-sync-delay', '0'];
  const master = await startRedis(command, { durable: true, args, check: responds });
  const { hostname, port } = new URL(master.address);
  const replica = await startRedis(command, {
    durable: true,
    args: [...args, '--replicaof', hostname, port],
    check: responds,
  });
  await until(() => checkReplicas(master.address, 1));
  const sentinel = await startSentinel(command, new URL(master.address), DOWN_AFTER_MS);
  const asked = <Result>(...question: readonly string[]): Promise<Result> =>
    withRedis(sentinel.address, (client) => client.call('SENTINEL', ...question, MASTER_NAME) as Promise<Result>);
  await untilTrue(async () => (await asked<unknown[]>('REPLICAS')).length === 1, 'Sentinel knows no replica');
  const store = sharedRedisBehindSentinel(sentinel.address, MASTER_NAME, [master.address, replica.address], {
    commandTimeoutMs: COMMAND_TIMEOUT_MS,
    waitReplicas: { count: 1, timeoutMs: TIME_LIMIT_MS },
  });
  return {
    store,
    kill: () => master.kill(),
    async takeOver() {
      const successor = new URL(replica.address).port;
      const isNamed = async (): Promise<boolean> => (await asked<string[]>('GET-MASTER-ADDR-BY-NAME'))[1] === successor;
      await untilTrue(isNamed, 'Sentinel names no other master');
      // The new master needs it as a replica to confirm writes.
      await master.restart();
      await until(() => checkReplicas(replica.address, 1));
    },
    async stop() {
      await Promise.all([master.stop(), replica.stop(), sentinel.stop()]);
    },
  };
}
