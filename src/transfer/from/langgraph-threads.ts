import { TransferFileError } from '../transfer-errors.js';
import type { TransferRecord } from '../transfer-records.js';
import {
  type ForeignDatabase,
  type ForeignRow,
  toBytes,
  readColumnNames,
  parseJsonColumn,
  query,
  parseForeignObject,
  readForeignRows,
  parseForeignTime,
  toForeignText,
} from './foreign-database.js';
import { foreignRecords, recordsOrBad } from '../foreign-session.js';
import { eventOfMessage } from './langgraph-message.js';

/** Decodes a value that a saver has stored with a serializer. */
export type LangGraphDecoder = (type: string, bytes: Uint8Array) => unknown;

/** Whose sessions the threads become, and how to read them. */
export interface LangGraphOptions {
  readonly appName: string;
  /** The user, or how to find the user of a thread. */
  readonly userId: string | ((threadId: string) => string);
  /** The channel of the messages. Default `messages`. */
  readonly channel?: string | undefined;
  /** For values that are not stored as JSON, such as `msgpack` of Python. */
  readonly decode?: LangGraphDecoder | undefined;
}

/**
 * The messages of threads in the tables of LangGraph's savers for SQLite and PostgreSQL: those of the newest checkpoint of each
 * thread. Checkpoints have no times of messages, so that all have the time of the thread's first checkpoint.
 *
 * @example
 * const graph = { dialect: 'postgres', query: (sql, values) => pool.query(sql, values).then(({ rows }) => rows) } as const;
 * await importRecords(storage, langGraphThreads(graph, { appName: 'shop', userId: (threadId) => ownerOf(threadId) }));
 */
export async function* langGraphThreads(
  database: ForeignDatabase,
  { channel = 'messages', ...options }: LangGraphOptions,
): AsyncGenerator<TransferRecord> {
  const hasBlobs = (await readColumnNames(database, 'checkpoint_blobs')).size > 0;
  const threads = `SELECT thread_id, MIN(checkpoint_id) AS oldest, MAX(checkpoint_id) AS newest FROM checkpoints
    WHERE checkpoint_ns = '' GROUP BY thread_id ORDER BY thread_id`;
  for await (const { thread_id: threadId, oldest, newest } of readForeignRows(database, threads)) {
    const sessionId = toForeignText(threadId);
    const userId = typeof options.userId === 'string' ? options.userId : options.userId(sessionId);
    const key = { appName: options.appName, userId, sessionId };
    const read = (id: unknown): Promise<Checkpoint> =>
      readCheckpoint(database, sessionId, toForeignText(id), options.decode);
    yield* recordsOrBad(key, async function* () {
      const [first, last] = [await read(oldest), await read(newest)];
      const stored = hasBlobs ? await blobOf(database, sessionId, last, channel, options.decode) : undefined;
      const messages = stored ?? parseForeignObject(last.channel_values)[channel] ?? [];
      if (!Array.isArray(messages))
        throw new TransferFileError(`the channel ${JSON.stringify(channel)} has no list of messages`);
      yield* foreignRecords({
        ...key,
        createTime: parseForeignTime(first.ts) ?? 0,
        lastUpdateTime: parseForeignTime(last.ts),
        events: () => messages.map((message) => eventOfMessage(parseForeignObject(message))),
      });
    });
  }
}

interface Checkpoint {
  readonly ts?: unknown;
  readonly channel_values?: unknown;
  readonly channel_versions?: unknown;
}

async function readCheckpoint(
  database: ForeignDatabase,
  threadId: string,
  checkpointId: string,
  decode: LangGraphDecoder | undefined,
): Promise<Checkpoint> {
  const [row] = await query(
    database,
    "SELECT type, checkpoint FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id = ?",
    [threadId, checkpointId],
  );
  const { type, checkpoint } = row ?? {};
  // PostgreSQL has it as JSON, and the type says how other values are stored.
  const bytes = toBytes(checkpoint);
  return parseForeignObject(bytes ? decoded(toForeignText(type, 'json'), bytes, decode) : checkpoint);
}

/** On PostgreSQL, values of channels are in a table of their own, by their versions. */
async function blobOf(
  database: ForeignDatabase,
  threadId: string,
  { channel_versions: versions }: Checkpoint,
  channel: string,
  decode: LangGraphDecoder | undefined,
): Promise<unknown> {
  const version = parseForeignObject(versions)[channel];
  if (version === undefined) return undefined;
  const [row]: readonly ForeignRow[] = await query(
    database,
    "SELECT type, blob FROM checkpoint_blobs WHERE thread_id = ? AND checkpoint_ns = '' AND channel = ? AND version = ?",
    [threadId, channel, toForeignText(version)],
  );
  const bytes = toBytes(row?.blob);
  return bytes && decoded(toForeignText(row?.type), bytes, decode);
}

function decoded(type: string, bytes: Uint8Array, decode: LangGraphDecoder | undefined): unknown {
  if (type === 'json') return parseJsonColumn(bytes);
  if (type === 'empty' || type === 'null') return undefined;
  if (!decode) throw new TransferFileError(`a value is stored as ${JSON.stringify(type)}: give \`decode\` for it`);
  return decode(type, bytes);
}
