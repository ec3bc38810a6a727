import type { Cluster, Redis } from 'ioredis';
import type { Hear } from '../hearers.js';
import type { Listening } from '../session-changes.js';
import { slotOf } from './key-slot.js';
import { Subscriber, type SubscriberOptions } from './subscriber.js';

/** A channel that somebody listens to, and the node where that is done now, if one has its slot. */
interface PlacedChannel {
  readonly channel: string;
  readonly hear: Hear;
  node?: string;
  listening?: Listening;
}

export interface ClusterSubscribersOptions extends Pick<SubscriberOptions, 'timeoutMs' | 'pulseMs'> {
  readonly newClient: (node: Redis) => Redis;
}

/** A connection to each master in whose slots somebody listens. Channels follow their slots to other nodes. */
export class ClusterSubscribers {
  readonly #channels = new Set<PlacedChannel>();
  readonly #subscribers = new Map<string, Subscriber>();
  #isRefreshing = false;

  constructor(
    private readonly cluster: Cluster,
    private readonly options: ClusterSubscribersOptions,
  ) {}

  listen(channel: string, hear: Hear): Listening {
    const placed: PlacedChannel = { channel, hear };
    if (this.#channels.size === 0) this.cluster.on('refresh', this.#placeAll);
    this.#channels.add(placed);
    this.#place(placed);
    return {
      get isLive() {
        return placed.listening?.isLive ?? false;
      },
      stop: () => {
        placed.listening?.stop();
        this.#channels.delete(placed);
        if (this.#channels.size === 0) this.cluster.off('refresh', this.#placeAll);
      },
    };
  }

  close(): void {
    this.cluster.off('refresh', this.#placeAll);
    for (const subscriber of this.#subscribers.values()) subscriber.close();
  }

  readonly #placeAll = (): void => {
    for (const placed of this.#channels) this.#place(placed);
  };

  #place(placed: PlacedChannel): void {
    const node = this.cluster.slots[slotOf(placed.channel)]?.[0];
    if (node === placed.node) return;
    placed.listening?.stop();
    placed.node = node;
    placed.listening = node === undefined ? undefined : this.#subscriberTo(node)?.listen(placed.channel, placed.hear);
  }

  #subscriberTo(name: string): Subscriber | undefined {
    const known = this.#subscribers.get(name);
    const node = this.cluster.nodes('all').find(({ options }) => `${options.host}:${options.port}` === name);
    if (known || !node) return known;
    const { newClient, ...options } = this.options;
    const onTrouble = (): void => this.#findSlots();
    const subscriber = new Subscriber({ ...options, isSharded: true, newClient: () => newClient(node), onTrouble });
    this.#subscribers.set(name, subscriber);
    return subscriber;
  }

  /** Slots may lie elsewhere by now; the client tells by `refresh`. */
  #findSlots(): void {
    if (this.#isRefreshing || this.cluster.status !== 'ready') return;
    this.#isRefreshing = true;
    this.cluster.refreshSlotsCache(() => (this.#isRefreshing = false));
  }
}
