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
const ITEMS_AT_ONCE = 500;
const KEYS_AT_ONCE = 500;

/**
 * Imports the keys of AgentScope, of version 1 and 2, where the id of a session of a user is `{user}/{session}`. One value or list at
 * a time is in memory.
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

  async function importSession(id: string): Promise<void> {
    if ((await client.type(`${prefix}${id}${KEYS}`)) !== 'set') return;
    for (const tracked of await client.smembers(`${prefix}${id}${KEYS}`)) {
      const key = `${prefix}${id}:${tracked}`;
      // A value may have a name that ends like the key of a list.
      const type = await client.type(key);
      const isEmptied = type === 'none' && tracked.endsWith(LIST);
      if (type === 'list' || isEmptied) await target.saveList(id, tracked.slice(0, -LIST.length), await itemsOf(key));
      if (type === 'string') await target.saveValue(id, tracked, (await client.get(key)) ?? '');
    }
    target.endSession();
  }

  async function itemsOf(key: string): Promise<string[]> {
    const items: string[] = [];
    for (;;) {
      const found = await client.lrange(key, items.length, items.length + ITEMS_AT_ONCE - 1);
      items.push(...found);
      if (found.length < ITEMS_AT_ONCE) return items;
    }
  }

  const pattern = `${prefix.replaceAll(/[\\*?[\]]/g, String.raw`\$&`)}*${KEYS}`;
  for (const node of nodes) {
    let cursor = '0';
    do {
      const [next, found] = await node.scan(cursor, 'MATCH', pattern, 'COUNT', KEYS_AT_ONCE);
      for (const key of found) await importSession(key.slice(prefix.length, -KEYS.length));
      cursor = next;
    } while (cursor !== '0');
  }
  return target.report;
}
