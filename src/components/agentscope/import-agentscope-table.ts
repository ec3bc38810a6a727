import { InvalidInputError } from '../../sessions/domain/errors/errors.js';
import { AgentScopeImport, type AgentScopeImportOptions, type AgentScopeReport } from './agentscope-import.js';

/** The table of AgentScope in MySQL or MariaDB. */
export interface AgentScopeTableOptions extends AgentScopeImportOptions {
  /** Runs a query with `?` for values, and returns its rows: `query` of a TypeORM `DataSource`, or a function over mysql2. */
  readonly query: (text: string, values: (string | number)[]) => Promise<unknown>;
  /** Default: `agentscope_sessions`. */
  readonly table?: string | undefined;
  /** Default: that of the connection. AgentScope's own default is `agentscope`. */
  readonly database?: string | undefined;
}

const SESSIONS_AT_ONCE = 200;
const ITEMS_AT_ONCE = 500;
const HASH = ':_hash';
const IDENTIFIER = /^[a-zA-Z_][\w-]{0,63}$/;

interface KeyRow {
  readonly state_key: string;
  readonly last_index: number | string;
}

/**
 * Imports the table of AgentScope, of version 1 and 2, and the older one with a row for each session. A key is a list if AgentScope stored its hash, or if it has several rows.
 * One value or list at a time is in memory.
 *
 * @example await importAgentScopeTable({ query: (text, values) => dataSource.query(text, values), into: components });
 *
 * @example await importAgentScopeTable({ query: async (text, values) => (await pool.query(text, values))[0], into: components });
 */
export async function importAgentScopeTable({
  query,
  table = 'agentscope_sessions',
  database,
  ...options
}: AgentScopeTableOptions): Promise<AgentScopeReport> {
  const target = new AgentScopeImport(options);
  const name = [database ?? [], table].flat().map(quoted).join('.');
  const rows = async <Row>(text: string, ...values: (string | number)[]): Promise<Row[]> =>
    (await query(text, values)) as Row[];

  const columns = await rows<{ name: string }>(
    `SELECT COLUMN_NAME AS name FROM information_schema.COLUMNS WHERE TABLE_NAME = ? AND TABLE_SCHEMA = ${database ? '?' : 'DATABASE()'}`,
    ...[table, database ?? []].flat(),
  );
  const names = new Set(columns.map((column) => column.name.toLowerCase()));
  if (!names.has('session_id') || !names.has('state_data'))
    throw new InvalidInputError(
      `is no table of AgentScope in ${database ? 'this database' : 'the database of the connection; its own default is `agentscope`'}`,
      'table',
    );
  const importSession = names.has('state_key') ? importKeys : importRow;

  async function importRow(id: string): Promise<void> {
    const found = await rows<{ state_data: unknown }>(`SELECT state_data FROM ${name} WHERE session_id = ?`, id);
    for (const { state_data: data } of found) await target.saveSession(id, data);
  }

  async function importKeys(id: string): Promise<void> {
    const keys = await rows<KeyRow>(
      `SELECT state_key, MAX(item_index) AS last_index FROM ${name} WHERE session_id = ? GROUP BY state_key`,
      id,
    );
    const hashed = new Set(keys.map(({ state_key: key }) => key).filter((key) => key.endsWith(HASH)));
    for (const { state_key: key, last_index: last } of keys) {
      if (hashed.has(key)) continue;
      const texts = await textsOf(id, key);
      if (hashed.has(key + HASH) || Number(last) > 0) await target.saveList(id, key, texts);
      else await target.saveValue(id, key, texts[0] ?? '');
    }
    target.endSession();
  }

  async function textsOf(id: string, key: string): Promise<string[]> {
    const texts: string[] = [];
    for (let after = -1; ;) {
      const found = await rows<{ item_index: number; state_data: string }>(
        `SELECT item_index, state_data FROM ${name}
         WHERE session_id = ? AND state_key = ? AND item_index > ? ORDER BY item_index LIMIT ${ITEMS_AT_ONCE}`,
        id,
        key,
        after,
      );
      texts.push(...found.map(({ state_data: text }) => text));
      after = Number(found.at(-1)?.item_index);
      if (found.length < ITEMS_AT_ONCE) return texts;
    }
  }

  for (let after = ''; ;) {
    const found = await rows<{ session_id: string }>(
      `SELECT DISTINCT session_id FROM ${name} WHERE session_id > ? ORDER BY session_id LIMIT ${SESSIONS_AT_ONCE}`,
      after,
    );
    for (const { session_id: id } of found) await importSession(id);
    after = found.at(-1)?.session_id ?? '';
    if (found.length < SESSIONS_AT_ONCE) return target.report;
  }
}

function quoted(identifier: string): string {
  if (IDENTIFIER.test(identifier)) return `\`${identifier}\``;
  throw new InvalidInputError('must be a name as AgentScope allows: letters, digits, _ and -, at most 64', 'table');
}
