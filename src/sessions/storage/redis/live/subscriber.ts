import { setImmediate } from 'node:timers';
import type { Redis } from 'ioredis';
import { type MessageListener, ListenerRegistry } from '../../listener-registry.js';
import type { LogSubscription } from '../../session-changes.js';
import { withTimeout } from '../../../domain/process/timeouts.js';

const CHANNELS_PER_COMMAND = 500;

export interface SubscriberOptions {
  /** Creates a client that is not connected yet and reconnects by itself. */
  readonly newClient: () => Redis;
  /** On a cluster channels are sharded: they are in slots, as keys are. */
  readonly isSharded: boolean;
  readonly timeoutMs: number;
  /** The interval of PINGs that detect a dead connection. */
  readonly heartbeatMs: number;
  /** Called when the server may no longer be the right one. */
  readonly onFailure?: () => void;
}

/**
 * One connection for the subscriptions of all listeners. It is open while there are listeners, and reconnects by itself.
 * After a reconnect every listener is called, because it may have missed messages.
 */
export class Subscriber {
  readonly #listeners = new ListenerRegistry();
  /** Channels that the server has confirmed on the current connection. */
  readonly #live = new Set<string>();
  /** Channels of the next SUBSCRIBE command. */
  readonly #batch = new Set<string>();
  #client: Redis | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #isPinging = false;

  constructor(private readonly options: SubscriberOptions) {}

  listen(channel: string, listener: MessageListener): LogSubscription {
    const live = this.#live;
    if (this.#listeners.add(channel, listener)) this.#add(channel);
    return {
      get isLive() {
        return live.has(channel);
      },
      stop: () => {
        if (this.#listeners.remove(channel, listener)) this.#remove(channel);
      },
    };
  }

  close(): void {
    clearInterval(this.#heartbeat);
    this.#live.clear();
    this.#client?.disconnect();
    this.#client = undefined;
  }

  #add(channel: string): void {
    this.#client ??= this.#connect();
    // Channels added in the same turn share a command.
    if (this.#batch.size === 0) setImmediate(() => this.#subscribe(this.#batch));
    this.#batch.add(channel);
  }

  #remove(channel: string): void {
    this.#live.delete(channel);
    if (this.#listeners.size === 0) {
      this.close();
    } else if (this.#client?.status === 'ready') {
      const { isSharded } = this.options;
      void this.#client[isSharded ? 'sunsubscribe' : 'unsubscribe'](channel).catch(() => undefined);
    }
  }

  #connect(): Redis {
    const client = this.options.newClient();
    const onMessage = (channel: string, message: string): void => this.#listeners.notify(channel, message);
    // Until then watchers read their logs, and get the error there.
    client.on('error', () => undefined);
    client.on('ready', () => this.#subscribe(new Set(this.#listeners.names())));
    client.on('close', () => {
      // The client may have been replaced.
      if (client !== this.#client) return;
      this.#live.clear();
      this.options.onFailure?.();
    });
    client.on('moved', () => client.disconnect(true));
    client.on('message', onMessage).on('smessage', onMessage);
    client.connect().catch(() => undefined);
    this.#heartbeat = setInterval(() => void this.#ping(client), this.options.heartbeatMs).unref();
    return client;
  }

  #subscribe(batch: Set<string>): void {
    const channels = [...batch].filter((channel) => this.#listeners.has(channel));
    batch.clear();
    const client = this.#client;
    // A client that is not ready subscribes to all channels when it is.
    if (client?.status !== 'ready') return;
    // All channels of an SSUBSCRIBE command must be in one slot.
    const size = this.options.isSharded ? 1 : CHANNELS_PER_COMMAND;
    for (let from = 0; from < channels.length; from += size) {
      void this.#subscribeTo(client, channels.slice(from, from + size));
    }
  }

  async #subscribeTo(client: Redis, channels: readonly string[]): Promise<void> {
    try {
      await client[this.options.isSharded ? 'ssubscribe' : 'subscribe'](...channels);
    } catch {
      // The server is too old, the user lacks the permission, or another node has the slot now.
      if (client.status === 'ready') this.options.onFailure?.();
      return;
    }
    for (const channel of channels.filter((name) => this.#listeners.has(name))) {
      this.#live.add(channel);
      this.#listeners.notify(channel);
    }
  }

  async #ping(client: Redis): Promise<void> {
    if (client.status !== 'ready' || this.#isPinging) return;
    this.#isPinging = true;
    try {
      await withTimeout(this.options.timeoutMs, client.ping(), () => new Error('No response'));
    } catch {
      client.disconnect(true);
    } finally {
      this.#isPinging = false;
    }
  }
}
