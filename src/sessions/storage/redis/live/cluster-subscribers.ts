import type { Cluster, Redis } from 'ioredis';
import { type MessageListener } from '../../listener-registry.js';
import type { LogSubscription } from '../../session-changes.js';
import { masterNameOf, nodeNamed } from '../connect/node-watchdog.js';
import { Subscriber, type SubscriberOptions } from './subscriber.js';

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
