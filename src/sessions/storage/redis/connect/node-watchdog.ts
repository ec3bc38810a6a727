import type { Cluster, Redis } from 'ioredis';
import { slotOf } from '../cluster-slots.js';
import type { RedisClient } from './redis-options.js';

/**
 * Reconnects to nodes that stop responding. It watches the store's own client only. The `socketTimeout` of ioredis is
 * not used, because it can close the connection that replaced the dead one.
 */
export class NodeWatchdog {
  readonly #lastResponse = new WeakMap<Redis, number>();

  constructor(
    private readonly client: RedisClient,
    private readonly timeoutMs: number,
  ) {
    if (client.isCluster) client.on('+node', (node: Redis) => this.#watch(node));
    else this.#watch(client as Redis);
  }

  /** The node that runs a script with this key, if the client knows it. */
  nodeFor(key: string): Redis | undefined {
    if (!this.client.isCluster) return this.client as Redis;
    const cluster = this.client as Cluster;
    return nodeNamed(cluster, masterNameOf(cluster, `${cluster.options.keyPrefix ?? ''}${key}`));
  }

  noteResponse(node: Redis | undefined): void {
    if (node) this.#lastResponse.set(node, performance.now());
  }

  /** After a call without a response: reconnects if the node has sent no other response within the timeout either. */
  reconnectIfDead(node: Redis | undefined): boolean {
    if (node?.status !== 'ready') return false;
    if (performance.now() - (this.#lastResponse.get(node) ?? 0) < this.timeoutMs) return false;
    node.disconnect(true);
    return true;
  }

  /** A new connection starts with a full timeout. */
  #watch(node: Redis): void {
    node.on('ready', () => this.noteResponse(node));
  }
}

/** `host:port` of the master of a key, if the client knows it. */
export function masterNameOf(cluster: Cluster, key: string): string | undefined {
  return cluster.slots[slotOf(key)]?.[0];
}

export function nodeNamed(cluster: Cluster, name: string | undefined): Redis | undefined {
  return cluster.nodes('all').find(({ options }) => `${options.host}:${options.port}` === name);
}
