import type { Cluster, Redis } from 'ioredis';
import type { MessageListener } from '../../listener-registry.js';
import type {
  ChangeFeed,
  ConsumerListener,
  LogListener,
  LogReference,
  LogSubscription,
} from '../../session-changes.js';
import { createSubscriberClient } from '../connect/create-client.js';
import { masterNameOf, nodeNamed } from '../connect/node-watchdog.js';
import type { RedisClient } from '../connect/redis-options.js';
import type { RedisKeys } from '../redis-keys.js';
import { type SubscriberOptions, Subscriber } from './subscriber.js';

const HEARTBEAT_MS = 15_000;

/** Listens to what scripts publish. The channel of a session has the name of its record. */
export class RedisFeed implements ChangeFeed {
  readonly #subscribers: Subscriber | ClusterSubscribers;
  /** ioredis adds this prefix to the keys of scripts, but not to channels. */
  readonly #keyPrefix: string;
  readonly #isCluster: boolean;

  constructor(
    client: RedisClient,
    private readonly keys: RedisKeys,
    { timeoutMs, heartbeatMs = HEARTBEAT_MS }: { timeoutMs: number; heartbeatMs?: number },
  ) {
    this.#keyPrefix = client.options.keyPrefix ?? '';
    this.#isCluster = client.isCluster;
    const limits = { timeoutMs, heartbeatMs };
    const newClient = (node: Redis): Redis => createSubscriberClient(node, timeoutMs);
    this.#subscribers = client.isCluster
      ? new ClusterSubscribers(client as Cluster, { ...limits, newClient })
      : new Subscriber({ ...limits, isSharded: false, newClient: () => newClient(client as Redis) });
  }

  listen({ key, incarnation }: LogReference, listener: LogListener): LogSubscription {
    const channel = this.#keyPrefix + this.keys.recordOf(key);
    return this.#subscribers.listen(channel, (message) => listener(...placeIn(message, incarnation)));
  }

  /** The channels have the names of keys that the announced scripts write. */
  listenForConsumers(listener: ConsumerListener): () => void {
    const { changed, changedSlots } = this.keys;
    const [entries] = this.keys.entries(undefined);
    const marks = this.#listenForNews(this.#isCluster ? changedSlots : changed, 'marks', listener);
    const work = this.#listenForNews(entries, 'work', listener);
    return () => {
      marks.stop();
      work.stop();
    };
  }

  close(): void {
    this.#subscribers.close();
  }

  #listenForNews(key: string, news: 'marks' | 'work', listener: ConsumerListener): LogSubscription {
    return this.#subscribers.listen(this.#keyPrefix + key, (message) =>
      message === undefined ? listener() : listener(news),
    );
  }
}

/**
 * The seq in a message, and the number of a partial event. A message of another incarnation has none, but still means that
 * something changed.
 */
function placeIn(message: string | undefined, incarnation: string): Parameters<LogListener> {
  const [source, seq, partial] = message?.split(' ') ?? [];
  if (source !== incarnation || seq === undefined) return [];
  return partial === undefined ? [Number(seq)] : [Number(seq), Number(partial)];
}

/** A subscription, and the node that has the slot of its channel now, if any. */
interface ClusterSubscription {
  readonly channel: string;
  readonly listener: MessageListener;
  node?: string;
  onNode?: LogSubscription;
}

export interface ClusterSubscribersOptions extends Pick<SubscriberOptions, 'timeoutMs' | 'heartbeatMs'> {
  readonly newClient: (node: Redis) => Redis;
}

/** One subscriber per master that has channels with listeners. Channels follow their slots to other nodes. */
export class ClusterSubscribers {
  readonly #subscriptions = new Set<ClusterSubscription>();
  readonly #subscribers = new Map<string, Subscriber>();
  #isRefreshing = false;

  constructor(
    private readonly cluster: Cluster,
    private readonly options: ClusterSubscribersOptions,
  ) {}

  listen(channel: string, listener: MessageListener): LogSubscription {
    const subscription: ClusterSubscription = { channel, listener };
    if (this.#subscriptions.size === 0) this.cluster.on('refresh', this.#assignAll);
    this.#subscriptions.add(subscription);
    this.#assign(subscription);
    return {
      get isLive() {
        return subscription.onNode?.isLive ?? false;
      },
      stop: () => {
        subscription.onNode?.stop();
        this.#subscriptions.delete(subscription);
        if (this.#subscriptions.size === 0) this.cluster.off('refresh', this.#assignAll);
      },
    };
  }

  close(): void {
    this.cluster.off('refresh', this.#assignAll);
    for (const subscriber of this.#subscribers.values()) subscriber.close();
  }

  readonly #assignAll = (): void => {
    for (const subscription of this.#subscriptions) this.#assign(subscription);
  };

  #assign(subscription: ClusterSubscription): void {
    const node = masterNameOf(this.cluster, subscription.channel);
    if (node === subscription.node) return;
    subscription.onNode?.stop();
    subscription.node = node;
    subscription.onNode =
      node === undefined ? undefined : this.#subscriberTo(node)?.listen(subscription.channel, subscription.listener);
  }

  #subscriberTo(name: string): Subscriber | undefined {
    const known = this.#subscribers.get(name);
    const node = nodeNamed(this.cluster, name);
    if (known || !node) return known;
    const { newClient, ...options } = this.options;
    const onFailure = (): void => this.#refreshSlots();
    const subscriber = new Subscriber({ ...options, isSharded: true, newClient: () => newClient(node), onFailure });
    this.#subscribers.set(name, subscriber);
    return subscriber;
  }

  /** Slots may have moved. The client emits `refresh` when it knows their nodes. */
  #refreshSlots(): void {
    if (this.#isRefreshing || this.cluster.status !== 'ready') return;
    this.#isRefreshing = true;
    this.cluster.refreshSlotsCache(() => (this.#isRefreshing = false));
  }
}
