import { Recent } from '../../sessions/domain/process/recently-used.js';
import { AgentScopeImport, type AgentScopeImportOptions, type AgentScopeReport } from './agentscope-import.js';

/** What the import uses of a client, as ioredis has it. */
export interface AgentScopeRedisClient {
  smembers(key: string): Promise<string[]>;
  type(key: string): Promise<string>;
  get(key: string): Promise<string | null>;
  lrange(key: string, start: number, stop: number): Promise<string[]>;
}

/** A node whose keys are listed. */
export interface AgentScopeRedisNode {
  scan(
    cursor: string,
    match: 'MATCH',
    pattern: string,
    counted: 'COUNT',
    count: number,
  ): Promise<[cursor: string, keys: string[]]>;
}

/** The keys of AgentScope in Redis. */
export interface AgentScopeRedisOptions extends AgentScopeImportOptions {
  readonly client: AgentScopeRedisClient;
  /** The nodes that hold the keys: the client itself, or `cluster.nodes('master')`. */
  readonly nodes: readonly AgentScopeRedisNode[];
  /** Default: `agentscope:session:`. */
  readonly prefix?: string | undefined;
}

const KEYS = ':_keys';
const LIST = ':list';
/** What AgentScope adds to the key of a value or a list. */
const BESIDE = /:(ver|_hash)$/;
const ITEMS_AT_ONCE = 500;
const KEYS_AT_ONCE = 500;
const MOST_REMEMBERED = 1_000;

/**
 * Imports the keys of AgentScope, of version 1 and 2, where the id of a session of a user is `{user}/{session}`, and the older ones,
 * `agentscope:session:{session}` with all components. One value or list at a time is in memory.
 *
 * @example await importAgentScopeRedis({ client: redis, nodes: [redis], into: components });
 */
export async function importAgentScopeRedis({
  client,
  nodes,
  prefix = 'agentscope:session:',
  ...options
}: AgentScopeRedisOptions): Promise<AgentScopeReport> {
  const target = new AgentScopeImport(options);
  const remembered = new Recent<ReadonlySet<string>>(MOST_REMEMBERED);

  /** The keys of a session; none if it is none. */
  async function keysOf(id: string): Promise<ReadonlySet<string>> {
    const known = remembered.get(id);
    if (known) return known;
    const key = `${prefix}${id}${KEYS}`;
    const keys = new Set((await client.type(key)) === 'set' ? await client.smembers(key) : []);
    remembered.set(id, keys);
    return keys;
  }

  async function importSession(id: string): Promise<void> {
    const keys = await keysOf(id);
    if (keys.size === 0) return;
    for (const tracked of keys) {
      const key = `${prefix}${id}:${tracked}`;
      // A value may have a name that ends like the key of a list.
      const type = await client.type(key);
      const isEmptied = type === 'none' && tracked.endsWith(LIST);
      if (type === 'list' || isEmptied) await target.saveList(id, tracked.slice(0, -LIST.length), await itemsOf(key));
      if (type === 'string') await target.saveValue(id, tracked, (await client.get(key)) ?? '');
    }
    target.endSession();
  }

  async function importOldSession(id: string): Promise<void> {
    if ((await isOfSession(id)) || (await client.type(prefix + id)) !== 'string') return;
    const text = await client.get(prefix + id);
    if (text !== null) await target.saveSession(id, text);
  }

  /** Whether this is not the id of a session, but that of one with the name of a key. Both may have colons. */
  async function isOfSession(text: string): Promise<boolean> {
    for (let colon = text.indexOf(':'); colon >= 0; colon = text.indexOf(':', colon + 1)) {
      const keys = await keysOf(text.slice(0, colon));
      const key = text.slice(colon + 1);
      if (keys.has(key) || keys.has(key.replace(BESIDE, ''))) return true;
    }
    return false;
  }

  async function itemsOf(key: string): Promise<string[]> {
    const items: string[] = [];
    for (;;) {
      const found = await client.lrange(key, items.length, items.length + ITEMS_AT_ONCE - 1);
      items.push(...found);
      if (found.length < ITEMS_AT_ONCE) return items;
    }
  }

  const pattern = `${prefix.replaceAll(/[\\*?[\]]/g, String.raw`\$&`)}*`;
  for (const node of nodes) {
    let cursor = '0';
    do {
      const [next, found] = await node.scan(cursor, 'MATCH', pattern, 'COUNT', KEYS_AT_ONCE);
      for (const key of found) {
        const rest = key.slice(prefix.length);
        await (rest.endsWith(KEYS) ? importSession(rest.slice(0, -KEYS.length)) : importOldSession(rest));
      }
      cursor = next;
    } while (cursor !== '0');
  }
  return target.report;
}
