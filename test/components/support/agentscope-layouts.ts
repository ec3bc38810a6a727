import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Redis } from 'ioredis';
import type { Connection, RowDataPacket } from 'mysql2/promise';

/** What AgentScope returns for a session: `get` of each value, `getList` of each list. */
export interface AgentScopeSession {
  readonly values: Readonly<Record<string, unknown>>;
  readonly lists: Readonly<Record<string, readonly unknown[]>>;
}

const message = (index: number): object => ({
  id: `m-${index}`,
  name: index % 2 === 0 ? 'user' : 'assistant',
  role: index % 2 === 0 ? 'USER' : 'ASSISTANT',
  content: [{ type: 'text', text: `Nachricht ${index}: "ä"\u2028 \u{1F600}` }],
  timestamp: '2026-06-09 10:00:00.000',
});

const MESSAGES = Array.from({ length: 12 }, (_, index) => message(index));

/** Two sessions; the id of the second is unsafe for files and looks like one of a user. */
export const SESSIONS: Readonly<Record<string, AgentScopeSession>> = {
  'chat-1': {
    values: {
      agent_meta: { id: 'a-1', name: 'Friday', description: null, sysPrompt: '' },
      toolkit_activeGroups: { activeGroups: [] },
    },
    lists: { memory_messages: MESSAGES, notes: [{ text: 'one' }] },
  },
  'ann:chat 2': { values: { agent_state: { summary: 'ä', cur_iter: 3, context: MESSAGES.slice(0, 2) } }, lists: {} },
};

/** As Jackson's pretty printer writes objects. */
export function pretty(value: object): string {
  return JSON.stringify(value, undefined, 2).replaceAll(/^(\s*"(?:[^"\\]|\\.)*"): /gm, '$1 : ');
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** What the layouts of 2025 have of a session: the state of each component, in one text. */
export function oldSession(id: string): Readonly<Record<string, object>> {
  const { values = {}, lists = {} } = SESSIONS[id] ?? {};
  return { ...(values as Record<string, object>), memory: { messages: lists.memory_messages ?? [] } };
}

/** `{id}.json`, with the state of all components. */
export function writeOldFiles(root: string): void {
  for (const id of Object.keys(SESSIONS)) {
    if (!id.includes(' ')) write(join(root, `${id}.json`), pretty(oldSession(id)));
  }
}

/** The table of 2025: a row for each session. */
export async function writeOldTable(connection: Connection, table: string): Promise<void> {
  await connection.query(`CREATE TABLE \`${table}\` (
    session_id VARCHAR(255) PRIMARY KEY, state_data JSON NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP
  ) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci`);
  for (const id of Object.keys(SESSIONS)) {
    const row = [id, JSON.stringify(oldSession(id))];
    await connection.query(`INSERT INTO \`${table}\` (session_id, state_data) VALUES (?, ?)`, row);
  }
}

/** The keys of 2025: a text for each session, and a hash with the time of its last change. */
export async function writeOldKeys(redis: Redis, prefix: string): Promise<void> {
  for (const id of Object.keys(SESSIONS)) {
    await redis.set(`${prefix}${id}`, pretty(oldSession(id)));
    await redis.hset(`${prefix}${id}:meta`, { lastModified: '1765180800000' });
  }
}

function safeName(id: string): string {
  return /^[a-zA-Z0-9_\-.]+$/.test(id) ? id : Buffer.from(id).toString('base64url');
}

/** `{id}/{key}.json`, `{key}.jsonl`, `{key}.hash`; with a user, below a folder of theirs. */
export function writeFolders(root: string, user = ''): void {
  for (const [id, { values, lists }] of Object.entries(SESSIONS)) {
    const folder = join(root, user, safeName(id));
    for (const [key, value] of Object.entries(values)) write(join(folder, `${key}.json`), pretty(value as object));
    for (const [key, items] of Object.entries({ ...lists, emptied: [] })) {
      write(join(folder, `${key}.jsonl`), items.map((item) => `${JSON.stringify(item)}\n`).join('\n'));
      write(join(folder, `${key}.hash`), items.length === 0 ? 'empty:0' : '5f1c2ab');
    }
    write(join(folder, 'agent_meta.json.tmp'), '{"torn"');
  }
}

/** `get` and `getList` over these folders. */
export function readFolder(root: string, folder: string): AgentScopeSession {
  const values: Record<string, unknown> = {};
  const lists: Record<string, unknown[]> = {};
  for (const file of readdirSync(join(root, folder))) {
    const text = readFileSync(join(root, folder, file), 'utf8');
    if (file.endsWith('.json')) values[file.slice(0, -'.json'.length)] = JSON.parse(text);
    if (!file.endsWith('.jsonl')) continue;
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    lists[file.slice(0, -'.jsonl'.length)] = lines.map((line) => JSON.parse(line) as unknown);
  }
  return { values, lists };
}

/** The table of version 1, and with the column of version 2. An empty list is no row. */
export async function writeTable(connection: Connection, table: string, isVersion2: boolean): Promise<void> {
  await connection.query(`CREATE TABLE \`${table}\` (
    session_id VARCHAR(255) NOT NULL, state_key VARCHAR(255) NOT NULL, item_index INT NOT NULL DEFAULT 0,
    state_data LONGTEXT NOT NULL, ${isVersion2 ? 'version BIGINT NOT NULL DEFAULT 0,' : ''}
    created_at DATETIME DEFAULT CURRENT_TIMESTAMP,
    updated_at DATETIME DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
    PRIMARY KEY (session_id, state_key, item_index)
  ) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci`);
  const rows: (readonly [string, string, number, string])[] = [];
  for (const [id, { values, lists }] of Object.entries(SESSIONS)) {
    for (const [key, value] of Object.entries(values)) rows.push([id, key, 0, JSON.stringify(value)]);
    for (const [key, items] of Object.entries(lists)) {
      rows.push(...items.map((item, index) => [id, key, index, JSON.stringify(item)] as const));
      rows.push([id, `${key}:_hash`, 0, '5f1c2ab']);
    }
  }
  const columns = 'session_id, state_key, item_index, state_data';
  for (const row of rows) await connection.query(`INSERT INTO \`${table}\` (${columns}) VALUES (?, ?, ?, ?)`, [...row]);
}

/** `get` and `getList` over the table. */
export async function readTable(connection: Connection, table: string, id: string): Promise<AgentScopeSession> {
  const select = `SELECT state_data FROM \`${table}\` WHERE session_id = ? AND state_key = ? ORDER BY item_index`;
  const all = async (key: string): Promise<unknown[]> => {
    const [rows] = await connection.query<RowDataPacket[]>(select, [id, key]);
    return rows.map(({ state_data: text }) => JSON.parse(String(text)) as unknown);
  };
  const { values, lists } = SESSIONS[id] ?? { values: {}, lists: {} };
  return {
    values: Object.fromEntries(await Promise.all(Object.keys(values).map(async (key) => [key, (await all(key))[0]]))),
    lists: Object.fromEntries(await Promise.all(Object.keys(lists).map(async (key) => [key, await all(key)]))),
  };
}

/** The keys of version 1, or of version 2: with versions, and for a user. */
export async function writeKeys(redis: Redis, prefix: string, user?: string): Promise<void> {
  for (const [id, { values, lists }] of Object.entries(SESSIONS)) {
    const slot = `${prefix}${user === undefined ? '' : `${user}/`}${id}`;
    for (const [key, value] of Object.entries({ ...values, 'odd:list': { odd: true } })) {
      await redis.set(`${slot}:${key}`, JSON.stringify(value));
      if (user !== undefined) await redis.set(`${slot}:${key}:ver`, '3');
      await redis.sadd(`${slot}:_keys`, key);
    }
    for (const [key, items] of Object.entries({ ...lists, emptied: [] })) {
      for (const item of items) await redis.rpush(`${slot}:${key}:list`, JSON.stringify(item));
      await redis.set(`${slot}:${key}:list:_hash`, items.length === 0 ? 'empty:0' : '5f1c2ab');
      await redis.sadd(`${slot}:_keys`, `${key}:list`);
    }
  }
}

/** `get` and `getList` over the keys. */
export async function readKeys(redis: Redis, prefix: string, slot: string): Promise<AgentScopeSession> {
  const values: Record<string, unknown> = {};
  const lists: Record<string, unknown[]> = {};
  for (const key of await redis.smembers(`${prefix}${slot}:_keys`)) {
    const isValue = (await redis.type(`${prefix}${slot}:${key}`)) === 'string';
    if (isValue) values[key] = JSON.parse((await redis.get(`${prefix}${slot}:${key}`)) ?? '') as unknown;
    else {
      const items = await redis.lrange(`${prefix}${slot}:${key}`, 0, -1);
      lists[key.slice(0, -':list'.length)] = items.map((item) => JSON.parse(item) as unknown);
    }
  }
  return { values, lists };
}
