import type { UserKey } from '../../index.js';
import { RESERVED } from '../../adapter.js';
import type { TransferRecord } from '../transfer-records.js';
import {
  type ForeignDatabase,
  parseForeignObject,
  readForeignRows,
  parseForeignTime,
  toForeignText,
} from './foreign-database.js';
import type { ForeignEvent } from '../foreign-log.js';
import { foreignRecords, recordsOrBad } from '../foreign-session.js';
import { eventOfPythonItem, eventsOfItem } from './openai-item.js';

/** Whose sessions they become: sessions of the OpenAI Agents SDK have an id only. */
export interface OpenAiOwner {
  readonly appName: string;
  /** The user, or how to find the user of a session. */
  readonly userId: string | ((sessionId: string) => string);
}

/**
 * The sessions in a SQLite file of the OpenAI Agents SDK (`SQLiteSession`), with its default names of tables.
 *
 * @example
 * const openai = { dialect: 'sqlite', query: (sql, values) => dataSource.query(sql, values) } as const;
 * await importRecords(storage, openAiSessions(openai, { appName: 'shop', userId: 'ann' }));
 */
export async function* openAiSessions(database: ForeignDatabase, owner: OpenAiOwner): AsyncGenerator<TransferRecord> {
  for await (const row of readForeignRows(database, 'SELECT * FROM agent_sessions ORDER BY session_id')) {
    const sessionId = toForeignText(row.session_id);
    const userId = typeof owner.userId === 'string' ? owner.userId : owner.userId(sessionId);
    const key = { appName: owner.appName, userId, sessionId };
    const session = {
      ...key,
      createTime: parseForeignTime(row.created_at) ?? 0,
      lastUpdateTime: parseForeignTime(row.updated_at),
      async *events(): AsyncGenerator<ForeignEvent> {
        const statement = 'SELECT * FROM agent_messages WHERE session_id = ? ORDER BY id';
        for await (const message of readForeignRows(database, statement, [sessionId])) {
          const event = eventOfPythonItem(parseForeignObject(message.message_data));
          yield {
            ...event,
            id: event.id ?? RESERVED.ids.importedItem + toForeignText(message.id),
            timestamp: parseForeignTime(message.created_at),
          };
        }
      },
    };
    yield* recordsOrBad(key, () => foreignRecords(session));
  }
}

/** A session of items, such as `await session.getItems()` returns. */
export interface OpenAiItems extends UserKey {
  readonly sessionId: string;
  readonly items: readonly object[];
  /** Items have no times. Use the same time when you import them again. */
  readonly createTime: number;
}

/**
 * A session of the OpenAI Agents SDK from its items.
 *
 * @example
 * const key = { appName: 'shop', userId: 'ann', sessionId: 'chat-1' };
 * await importRecords(storage, openAiItems({ ...key, items: await session.getItems(), createTime: Date.parse('2026-11-23') }));
 */
export function openAiItems({ items, ...session }: OpenAiItems): AsyncGenerator<TransferRecord> {
  const { appName, userId, sessionId } = session;
  return recordsOrBad({ appName, userId, sessionId }, () =>
    foreignRecords({ ...session, events: () => items.flatMap((item) => eventsOfItem(item)) }),
  );
}
