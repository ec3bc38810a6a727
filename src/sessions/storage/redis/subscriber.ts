import type { Redis } from 'ioredis';
import { type Hear, Hearers } from '../hearers.js';
import type { Listening } from '../session-changes.js';
import { within } from './time-limit.js';

/** Channels that are asked for in one command. */
const CHANNELS_A_COMMAND = 500;

export interface SubscriberOptions {
  /** Makes a client that is not connected yet, and that connects again by itself. */
  readonly newClient: () => Redis;
  /** On a cluster, where channels lie in slots as keys do. */
  readonly isSharded: boolean;
  readonly timeoutMs: number;
  /** How often a connection that says nothing has to show that it is alive. */
  readonly pulseMs: number;
  /** Told when the server may not be the right one any more. */
  readonly onTrouble?: () => void;
}

/**
 * One connection that hears of all channels that somebody listens to. It is there while somebody does, and comes back by
 * itself; then everybody hears that something may have been missed.
 */
export class Subscriber {
  readonly #hearers = new Hearers();
  /** What the server has confirmed on this very connection. */
  readonly #live = new Set<string>();
  readonly #wanted = new Set<string>();
  #client: Redis | undefined;
  #pulse: NodeJS.Timeout | undefined;
  /** Whether the server has been asked for a sign of life. */
  #isAsked = false;

  constructor(private readonly options: SubscriberOptions) {}

  listen(channel: string, hear: Hear): Listening {
    const live = this.#live;
    if (this.#hearers.add(channel, hear)) this.#want(channel);
    return {
      get isLive() {
        return live.has(channel);
      },
      stop: () => {
        if (this.#hearers.remove(channel, hear)) this.#drop(channel);
      },
    };
  }

  close(): void {
    clearInterval(this.#pulse);
    this.#live.clear();
    this.#client?.disconnect();
    this.#client = undefined;
  }

  #want(channel: string): void {
    this.#client ??= this.#connected();
    // What is asked for in the same breath goes together.
    if (this.#wanted.size === 0) setImmediate(() => this.#subscribe(this.#wanted));
    this.#wanted.add(channel);
  }

  #drop(channel: string): void {
    this.#live.delete(channel);
    if (this.#hearers.size === 0) {
      this.close();
    } else if (this.#client?.status === 'ready') {
      const { isSharded } = this.options;
      void this.#client[isSharded ? 'sunsubscribe' : 'unsubscribe'](channel).catch(() => undefined);
    }
  }

  #connected(): Redis {
    const client = this.options.newClient();
    const told = (channel: string, message: string): void => this.#hearers.tell(channel, message);
    // Whoever waits looks at its log, and hears what is wrong.
    client.on('error', () => undefined);
    client.on('ready', () => this.#subscribe(new Set(this.#hearers.names())));
    client.on('close', () => {
      // Another one may be there by now.
      if (client !== this.#client) return;
      this.#live.clear();
      this.options.onTrouble?.();
    });
    client.on('moved', () => client.disconnect(true));
    client.on('message', told).on('smessage', told);
    client.connect().catch(() => undefined);
    this.#pulse = setInterval(() => void this.#feelPulse(client), this.options.pulseMs).unref();
    return client;
  }

  #subscribe(channels: Set<string>): void {
    const wanted = [...channels].filter((channel) => this.#hearers.has(channel));
    channels.clear();
    const client = this.#client;
    // Otherwise it subscribes to everything once it is ready.
    if (client?.status !== 'ready') return;
    // Channels in one command have to lie in one slot.
    const size = this.options.isSharded ? 1 : CHANNELS_A_COMMAND;
    for (let from = 0; from < wanted.length; from += size) {
      void this.#subscribeTo(client, wanted.slice(from, from + size));
    }
  }

  async #subscribeTo(client: Redis, channels: readonly string[]): Promise<void> {
    try {
      await client[this.options.isSharded ? 'ssubscribe' : 'subscribe'](...channels);
    } catch {
      // A server that cannot do this, or may not, or another one has the slot now.
      if (client.status === 'ready') this.options.onTrouble?.();
      return;
    }
    for (const channel of channels.filter((name) => this.#hearers.has(name))) {
      this.#live.add(channel);
      this.#hearers.tell(channel);
    }
  }

  async #feelPulse(client: Redis): Promise<void> {
    if (client.status !== 'ready' || this.#isAsked) return;
    this.#isAsked = true;
    try {
      await within(this.options.timeoutMs, client.ping(), () => new Error('Not answered'));
    } catch {
      client.disconnect(true);
    } finally {
      this.#isAsked = false;
    }
  }
}
