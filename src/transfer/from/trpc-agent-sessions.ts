import { TransferFileError } from '../../sessions/domain/transfer-errors.js';
import type { TransferRecord } from '../transfer-records.js';
import { eventOfSnakeCase } from './adk-event.js';
import { sessionsWithColumns } from './adk-sessions.js';
import { eventOfColumns } from './event-columns.js';
import {
  type ForeignDatabase,
  type ForeignRow,
  columnsOf,
  jsonOf,
  recordOf,
  timeOf,
  textOf,
} from './foreign-database.js';
import type { ForeignEvent } from './foreign-log.js';
import { type ForeignRedisNode, keysOf } from './foreign-redis.js';
import { entriesOf, foreignRecords, recordsOrBad } from './foreign-session.js';

/** Marks a summary in `model_flags`. */
const SUMMARY_FLAG = 2;

/**
 * The sessions in a SQL database of tRPC-Agent for Python. Its historical events come first.
 *
 * @example await importRecords(storage, trpcAgentSessions({ dialect: 'mysql', query: (sql, values) => trpc.query(sql, values) }));
 */
export async function* trpcAgentSessions(database: ForeignDatabase): AsyncGenerator<TransferRecord> {
  const columns = await columnsOf(database, 'sessions');
  if (!columns.has('conversation_count')) throw new TransferFileError('the database has no tables of tRPC-Agent');
  yield* sessionsWithColumns(database, eventOfColumns, historyOf);
}

function historyOf(session: ForeignRow): ForeignEvent[] {
  return eventsOf(jsonOf(session.historical_events));
}

/** What this needs of a client of Redis, such as one of ioredis. */
export interface ForeignRedis extends ForeignRedisNode {
  get(key: string): Promise<string | null>;
  hgetall(key: string): Promise<Record<string, string>>;
  pttl(key: string): Promise<number>;
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
  const users = new Map<string, { readonly appName: string; readonly userId: string }>();
  for await (const key of keysOf(nodes, 'session:*')) {
    const [text, ttlMs] = [await redis.get(key), await redis.pttl(key)];
    if (text === null) continue;
    yield* recordsOrBad({}, async function* () {
      const session = recordOf(text);
      const user = { appName: textOf(session.appName), userId: textOf(session.userId) };
      yield* recordsOrBad({ ...user, sessionId: textOf(session.id) }, () => {
        users.set(JSON.stringify(user), user);
        return foreignRecords(sessionOf(session, user, ttlMs));
      });
    });
  }
  for (const { appName, userId } of users.values()) {
    const entries = entriesOf(await redis.hgetall(`user_state:${appName}:${userId}`));
    if (entries.length > 0) yield { kind: 'state', appName, userId, entries };
  }
  for (const appName of new Set([...users.values()].map((user) => user.appName))) {
    const entries = entriesOf(await redis.hgetall(`app_state:${appName}`));
    if (entries.length > 0) yield { kind: 'state', appName, entries };
  }
}

function sessionOf(
  session: Readonly<Record<string, unknown>>,
  user: { readonly appName: string; readonly userId: string },
  ttlMs: number,
): Parameters<typeof foreignRecords>[0] {
  const [history, active] = [eventsOf(session.historicalEvents), eventsOf(session.events)];
  const first = history[0] ?? active[0];
  const lastUpdateTime = timeOf(session.lastUpdateTime);
  return {
    ...user,
    sessionId: textOf(session.id),
    // The layout has no time of creation.
    createTime: first?.timestamp ?? lastUpdateTime ?? 0,
    lastUpdateTime,
    expiresAt: ttlMs > 0 ? Date.now() + ttlMs : undefined,
    state: recordOf(session.state),
    events: () => [...history, ...active.map((event, index) => (index === 0 ? asSummary(event) : event))],
  };
}

function eventsOf(value: unknown): ForeignEvent[] {
  return Array.isArray(value) ? value.map((event) => eventOfSnakeCase(recordOf(event))) : [];
}

/** A summary that comes first stands for all before it. Others are ordinary events, as tRPC-Agent shows them. */
function asSummary(event: ForeignEvent): ForeignEvent {
  if ((Number(event.modelFlags) & SUMMARY_FLAG) === 0) return event;
  const { stateDelta: _stateDelta, ...actions } = event.actions ?? {};
  return { ...event, isSummary: true, actions };
}
