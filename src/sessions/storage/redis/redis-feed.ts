import type { Cluster, Redis } from 'ioredis';
import type { ChangeFeed, HearOfLog, Listening, LogReference } from '../session-changes.js';
import { ClusterSubscribers } from './cluster-subscribers.js';
import type { RedisKeys } from './redis-keys.js';
import { type RedisClient, subscriberOf } from './redis-options.js';
import { Subscriber } from './subscriber.js';

const PULSE_MS = 15_000;

/** What scripts publish, each session on a channel that is called as its record. */
export class RedisFeed implements ChangeFeed {
  readonly #subscribers: Subscriber | ClusterSubscribers;
  /** Goes in front of the keys of scripts, but not in front of channels. */
  readonly #keyPrefix: string;

  constructor(
    client: RedisClient,
    private readonly keys: RedisKeys,
    { timeoutMs, pulseMs = PULSE_MS }: { timeoutMs: number; pulseMs?: number },
  ) {
    this.#keyPrefix = client.options.keyPrefix ?? '';
    const limits = { timeoutMs, pulseMs };
    const newClient = (node: Redis): Redis => subscriberOf(node, timeoutMs);
    this.#subscribers = client.isCluster
      ? new ClusterSubscribers(client as Cluster, { ...limits, newClient })
      : new Subscriber({ ...limits, isSharded: false, newClient: () => newClient(client as Redis) });
  }

  listen({ key, incarnation }: LogReference, hear: HearOfLog): Listening {
    const channel = this.#keyPrefix + this.keys.recordOf(key);
    return this.#subscribers.listen(channel, (message) => hear(seqIn(message, incarnation)));
  }

  close(): void {
    this.#subscribers.close();
  }
}

/** What another incarnation did tells something about this one as well. */
function seqIn(message: string | undefined, incarnation: string): number | undefined {
  const [of, seq] = message?.split(' ') ?? [];
  return of === incarnation && seq !== undefined ? Number(seq) : undefined;
}
