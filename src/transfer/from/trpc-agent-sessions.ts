import { allFields } from '../../index.js';
import { TransferFileError } from '../transfer-errors.js';
import type { TransferRecord } from '../transfer-records.js';
import { camelCasedName, eventOfSnakeCase } from './adk-event.js';
import { sessionsWithColumns } from './adk-sessions.js';
import { eventOfColumns } from './event-columns.js';
import {
  type ForeignDatabase,
  type ForeignRow,
  readColumnNames,
  parseJsonColumn,
  parseForeignObject,
  parseForeignTime,
  toForeignText,
} from './foreign-database.js';
import type { ForeignEvent } from '../foreign-log.js';
import { type ForeignRedisNode, scanRedisKeys } from './foreign-redis.js';
import { foreignRecords, recordsOrBad, stateRecord } from '../foreign-session.js';

/** Marks a summary in `model_flags`. */
const SUMMARY_FLAG = 2;

/**
 * The sessions in a SQL database of tRPC-Agent for Python. Its historical events come first.
 *
 * @example await importRecords(storage, trpcAgentSessions({ dialect: 'mysql', query: (sql, values) => trpc.query(sql, values) }));
 */
export async function* trpcAgentSessions(database: ForeignDatabase): AsyncGenerator<TransferRecord> {
  const columns = await readColumnNames(database, 'sessions');
  if (!columns.has('conversation_count')) throw new TransferFileError('the database has no tables of tRPC-Agent');
  yield* sessionsWithColumns(database, eventOfColumns, historyOf);
}

function historyOf(session: ForeignRow): ForeignEvent[] {
  return parseForeignEvents(parseJsonColumn(session.historical_events));
}

/** What this needs of a client of Redis, such as one of ioredis. */
export interface ForeignRedis extends ForeignRedisNode {
  get(key: string): Promise<string | null>;
  hgetall(key: string): Promise<Record<string, string>>;
  pttl(key: string): Promise<number>;
}

interface Owner {
  readonly appName: string;
  readonly userId?: string;
}

/**
 * The sessions in a Redis of tRPC-Agent for Python. State of users and apps is read for those that have sessions. Its values are
 * text, as they are there.
 *
 * @param nodes the nodes that hold the keys: `cluster.nodes('master')`. Default: the client itself
 * @example await importRecords(storage, trpcAgentRedisSessions(new Redis('redis://127.0.0.1:6379')));
 */
export async function* trpcAgentRedisSessions(
  redis: ForeignRedis,
  nodes: readonly ForeignRedisNode[] = [redis],
): AsyncGenerator<TransferRecord> {
  const [users, apps] = [new Map<string, Owner>(), new Map<string, Owner>()];
  for await (const key of scanRedisKeys(nodes, 'session:*')) {
    yield* recordsOrBad({}, async function* () {
      const text = await textAt(redis, key);
      if (text === null) return;
      const session = parseSessionFields(text);
      const [appName, userId] = [toForeignText(session.appName), toForeignText(session.userId)];
      const expiresAt = await readKeyExpiry(redis, key);
      yield* recordsOrBad({ appName, userId, sessionId: toForeignText(session.id) }, () => {
        users.set(`user_state:${appName}:${userId}`, { appName, userId });
        apps.set(`app_state:${appName}`, { appName });
        return foreignRecords(toForeignSession(session, { appName, userId }, expiresAt));
      });
    });
  }
  for (const [key, owner] of [...users, ...apps]) {
    const state = await redis.hgetall(key);
    if (Object.keys(state).length > 0) yield stateRecord(owner, state, await readKeyExpiry(redis, key));
  }
}

/** Keys of other programs may begin alike. */
async function textAt(redis: ForeignRedis, key: string): Promise<string | null> {
  try {
    return await redis.get(key);
  } catch (error) {
    if (!String(error).includes('WRONGTYPE')) throw error;
    throw new TransferFileError('a key that begins with `session:` is no session of tRPC-Agent');
  }
}

async function readKeyExpiry(redis: ForeignRedis, key: string): Promise<number | undefined> {
  const ttlMs = await redis.pttl(key);
  return ttlMs > 0 ? Date.now() + ttlMs : undefined;
}

/** The fields of a stored session. tRPC-Agent writes `app_name`, and reads `appName` as well. */
function parseSessionFields(text: string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(parseForeignObject(text)).map(([name, value]) => [camelCasedName(name), value]),
  );
}

function toForeignSession(
  session: Readonly<Record<string, unknown>>,
  user: { readonly appName: string; readonly userId: string },
  expiresAt: number | undefined,
): Parameters<typeof foreignRecords>[0] {
  const [history, active] = [parseForeignEvents(session.historicalEvents), parseForeignEvents(session.events)];
  const events = [...history, ...active.map((event, index) => (index === 0 ? asSummary(event) : event))];
  // The layout has no time of creation, and an append leaves the time of the last update as it was.
  const times = [parseForeignTime(session.lastUpdateTime), ...events.map(({ timestamp }) => timestamp)];
  const known = times.filter((time) => time !== undefined);
  return {
    ...user,
    sessionId: toForeignText(session.id),
    createTime: known.reduce((a, b) => Math.min(a, b), known[0] ?? 0),
    lastUpdateTime: known.reduce((a, b) => Math.max(a, b), 0),
    expiresAt,
    state: parseForeignObject(session.state),
    events: () => events,
  };
}

function parseForeignEvents(value: unknown): ForeignEvent[] {
  return Array.isArray(value) ? value.map((event) => eventOfSnakeCase(parseForeignObject(event))) : [];
}

/** A summary that comes first stands for all before it. Others are ordinary events, as tRPC-Agent shows them. */
function asSummary(event: ForeignEvent): ForeignEvent {
  if ((Number(allFields(event).modelFlags) & SUMMARY_FLAG) === 0) return event;
  const { stateDelta: _stateDelta, ...actions } = event.actions ?? {};
  return { ...event, isSummary: true, actions };
}
