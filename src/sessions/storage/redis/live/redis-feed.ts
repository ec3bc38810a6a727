import type { Cluster, Redis } from 'ioredis';
import type { ChangeFeed, LogListener, LogReference, LogSubscription } from '../../session-changes.js';
import { createSubscriberClient } from '../connect/create-client.js';
import type { RedisClient } from '../connect/redis-options.js';
import type { RedisKeys } from '../redis-keys.js';
import { ClusterSubscribers } from './cluster-subscribers.js';
import { Subscriber } from './subscriber.js';

const HEARTBEAT_MS = 15_000;

/** Listens to what scripts publish. The channel of a session has the name of its record. */
export class RedisFeed implements ChangeFeed {
  readonly #subscribers: Subscriber | ClusterSubscribers;
  /** ioredis adds this prefix to the keys of scripts, but not to channels. */
  readonly #keyPrefix: string;

  constructor(
    client: RedisClient,
    private readonly keys: RedisKeys,
    { timeoutMs, heartbeatMs = HEARTBEAT_MS }: { timeoutMs: number; heartbeatMs?: number },
  ) {
    this.#keyPrefix = client.options.keyPrefix ?? '';
    const limits = { timeoutMs, heartbeatMs };
    const newClient = (node: Redis): Redis => createSubscriberClient(node, timeoutMs);
    this.#subscribers = client.isCluster
      ? new ClusterSubscribers(client as Cluster, { ...limits, newClient })
      : new Subscriber({ ...limits, isSharded: false, newClient: () => newClient(client as Redis) });
  }

  listen({ key, incarnation }: LogReference, listener: LogListener): LogSubscription {
    const channel = this.#keyPrefix + this.keys.recordOf(key);
    return this.#subscribers.listen(channel, (message) => listener(seqIn(message, incarnation)));
  }

  close(): void {
    this.#subscribers.close();
  }
}

/** The seq in a message. A message of another incarnation has none, but still means that something changed. */
function seqIn(message: string | undefined, incarnation: string): number | undefined {
  const [source, seq] = message?.split(' ') ?? [];
  return source === incarnation && seq !== undefined ? Number(seq) : undefined;
}
