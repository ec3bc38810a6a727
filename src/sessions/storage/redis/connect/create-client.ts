import { Cluster, type ClusterNode, Redis, type RedisOptions } from 'ioredis';
import { ConfigurationError } from '../../../../config/configuration-error.js';
import { hostWithPort, redisPlaceOf } from '../../../../config/store-place.js';
import { redisTls } from '../../../../config/url-options.js';
import { DEFAULT_COMMAND_TIMEOUT_MS, type RedisClient, type RedisSessionStorageOptions } from './redis-options.js';

const MAX_RECONNECT_DELAY_MS = 500;
/** A server that does not respond will not confirm QUIT either. */
const DISCONNECT_TIMEOUT_MS = 100;

/**
 * Creates a client that never resends a command and never queues one. A command without a response may have run, and
 * only the caller knows whether to repeat it.
 */
export function createClient(options: RedisSessionStorageOptions): RedisClient {
  const client = newClient(options);
  watchConnections(client, options.commandTimeoutMs ?? DEFAULT_COMMAND_TIMEOUT_MS);
  return client;
}

function newClient(options: RedisSessionStorageOptions): RedisClient {
  const { url, cluster, commandTimeoutMs = DEFAULT_COMMAND_TIMEOUT_MS } = options;
  const connection = { ...options.connection, ...encryptionOf(options) };
  const safe: RedisOptions = {
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: commandTimeoutMs,
    // A Sentinel that accepts a connection but does not respond is skipped.
    sentinelCommandTimeout: commandTimeoutMs,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
  };
  if (cluster) {
    return new Cluster([...cluster], {
      redisOptions: { ...connection, ...safe },
      lazyConnect: true,
      // Otherwise ioredis connects to IP addresses, which certificates do not name.
      ...(connection.tls && { dnsLookup: (name, found) => found(null, name) }),
      // The client connects to a node when it first needs it, and commands wait for that.
      enableOfflineQueue: true,
      scaleReads: 'master',
      clusterRetryStrategy: reconnectDelay,
      slotsRefreshTimeout: commandTimeoutMs,
      // Otherwise a command whose connection was lost is resent.
      retryDelayOnFailover: 0,
    });
  }
  const all: RedisOptions = {
    // Reconnects when the master has become a replica, so that Sentinel names the new master.
    reconnectOnError: ({ message }) => message.startsWith('READONLY'),
    retryStrategy: reconnectDelay,
    // A replaced master accepts writes for some more seconds and then loses them.
    ...(connection.sentinels && { failoverDetector: true }),
    ...connection,
    ...safe,
    lazyConnect: true,
    enableOfflineQueue: false,
  };
  return url === undefined ? new Redis(all) : new Redis(url, all);
}

/** For clusters and Sentinels ioredis needs explicit TLS options; otherwise it connects in plain text. */
function encryptionOf(options: RedisSessionStorageOptions): RedisOptions {
  const { tls, problems } = redisTls(options, { url: 'url', tls: 'tls' });
  if (problems.length > 0) throw new ConfigurationError(problems);
  const { sentinels, tls: ofClient, enableTLSForSentinelMode = true } = options.connection ?? {};
  if (!tls) return sentinels && ofClient ? { enableTLSForSentinelMode } : {};
  return { tls, ...(sentinels && { sentinelTLS: tls, enableTLSForSentinelMode: true }) };
}

/** Creates a client of the same server for subscriptions. Other options, such as the login, stay as they are. */
export function createSubscriberClient(client: Redis, timeoutMs: number): Redis {
  const subscriber = client.duplicate({
    keyPrefix: '',
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: reconnectDelay,
    connectTimeout: timeoutMs,
    sentinelCommandTimeout: timeoutMs,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    readOnly: false,
  });
  watchConnections(subscriber, timeoutMs);
  return subscriber;
}

function reconnectDelay(attempt: number): number {
  return Math.min(50 * attempt, MAX_RECONNECT_DELAY_MS);
}

/** Adds what ioredis lacks to the connections of a client, and to those of the nodes of a cluster. */
function watchConnections(client: RedisClient, timeoutMs: number): void {
  const watchOne = (node: Redis): void => {
    limitHandshake(node, timeoutMs);
    handleLaterErrors(node);
  };
  if (client.isCluster) {
    limitHandshake(client, timeoutMs);
    client.on('+node', watchOne);
  } else {
    watchOne(client as Redis);
  }
}

/**
 * ioredis handles the first error of a connection only. An encrypted one may have two, when its certificate is refused and
 * the server responds to that; the second one would end the process.
 */
function handleLaterErrors(client: Redis): void {
  client.on('error', () => client.stream?.on('error', () => undefined));
}

/**
 * Reconnects when a connection is accepted but not ready in time. The `connectTimeout` of ioredis ends when a connection
 * is accepted; ioredis waits for the rest of the handshake without a limit.
 */
function limitHandshake(client: RedisClient, timeoutMs: number): void {
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => clearTimeout(timer);
  client.on('connect', () => {
    stop();
    timer = setTimeout(() => {
      if (client.status === 'connect') client.disconnect(true);
    }, timeoutMs).unref();
  });
  client.on('ready', stop).on('close', stop).on('end', stop);
}

/** The name of the server in messages: host and port, without user and password. */
export function serverNameOf(client: RedisClient, cluster: readonly ClusterNode[] = []): string {
  if (!client.isCluster) return redisPlaceOf((client as Redis).options);
  return cluster.length > 0 ? `Redis Cluster at ${cluster.map(describeClusterNode).join(', ')}` : 'Redis Cluster';
}

function describeClusterNode(node: ClusterNode): string {
  if (typeof node === 'number') return hostWithPort('127.0.0.1', node);
  if (typeof node === 'object') return hostWithPort(node.host ?? '127.0.0.1', node.port ?? 6379);
  // A URL may contain a password.
  const url = node.includes('://') ? node : `redis://${node}`;
  return URL.canParse(url) ? new URL(url).host : 'an address that is no URL';
}
