import type { SessionKey, UserKey } from '../../sessions/domain/ids.js';
import type { TransferRecord } from '../transfer-records.js';
import { recordOf, textOf, timeOf } from './foreign-database.js';
import { type ForeignRedisNode, keysOf, literalPattern } from './foreign-redis.js';
import { entriesOf, foreignRecords, recordsOrBad } from './foreign-session.js';
import { stateOfGo, valueOf } from './trpc-agent-go-event.js';
import { summaryOf, withSummary } from './trpc-agent-go-summary.js';

/** What this needs of a client of Redis, such as one of ioredis. */
export interface TrpcAgentGoRedis extends ForeignRedisNode {
  get(key: string): Promise<string | null>;
  hget(key: string, field: string): Promise<string | null>;
  hkeys(key: string): Promise<string[]>;
  hgetall(key: string): Promise<Record<string, string>>;
  hmget(key: string, ...fields: string[]): Promise<(string | null)[]>;
  zrange(key: string, from: number, to: number): Promise<string[]>;
  pttl(key: string): Promise<number>;
}

/** How the keys begin, and where they are. */
export interface TrpcAgentGoRedisOptions {
  /** `WithKeyPrefix` of the service. Default: none. */
  readonly keyPrefix?: string | undefined;
  /** The nodes that hold the keys: `cluster.nodes('master')`. Default: the client itself. */
  readonly nodes?: readonly ForeignRedisNode[] | undefined;
}

const EVENTS_PER_PAGE = 500;

/** A session as it is stored, and where its events and summaries are. */
interface Stored extends SessionKey {
  readonly text: string;
  readonly ttlMs: number;
  readonly events: () => AsyncIterable<unknown>;
  readonly summaries: () => Promise<string | null>;
}

/**
 * The sessions in a Redis of tRPC-Agent for Go, in its two layouts: keys with `hashidx`, and those of older versions. A session that is
 * in both is that of the older one, as there. The summary of the whole session becomes a summary of the events that it covers;
 * those of branches, and tracks, are left out.
 *
 * @example await importRecords(storage, trpcAgentGoRedisSessions(new Redis('redis://127.0.0.1:6379'), { keyPrefix: 'agents' }));
 */
export async function* trpcAgentGoRedisSessions(
  redis: TrpcAgentGoRedis,
  { keyPrefix = '', nodes = [redis] }: TrpcAgentGoRedisOptions = {},
): AsyncGenerator<TransferRecord> {
  const keys = new GoKeys(redis, keyPrefix === '' ? '' : `${keyPrefix}:`, nodes);
  for await (const stored of keys.older()) yield* recordsOf(stored);
  for await (const stored of keys.indexed()) yield* recordsOf(stored);
  yield* keys.states();
}

async function* recordsOf({ text, ttlMs, events, summaries, ...key }: Stored): AsyncGenerator<TransferRecord> {
  yield* recordsOrBad(key, async function* () {
    const { createdAt, updatedAt, state } = recordOf(text);
    const createTime = timeOf(createdAt) ?? 0;
    const summary = recordOf(recordOf(await summaries())['']);
    yield* foreignRecords({
      ...key,
      createTime,
      lastUpdateTime: timeOf(updatedAt),
      expiresAt: ttlMs > 0 ? Date.now() + ttlMs : undefined,
      state: stateOfGo(state),
      events: () => withSummary(events(), summaryOf(summary, createTime)),
    });
  });
}

class GoKeys {
  constructor(
    private readonly redis: TrpcAgentGoRedis,
    private readonly prefix: string,
    private readonly nodes: readonly ForeignRedisNode[],
  ) {}

  /** `sess:{app}:user` has the sessions of a user, `event:{app}:user:session` the events by time. */
  async *older(): AsyncGenerator<Stored> {
    const { redis, prefix } = this;
    for await (const key of this.#keys('sess:')) {
      const owner = olderOwner(key.slice(`${prefix}sess:`.length));
      if (!owner) continue;
      const [sessions, ttlMs] = [await redis.hkeys(key), await redis.pttl(key)];
      const suffix = `{${owner.appName}}:${owner.userId}`;
      for (const sessionId of sessions.toSorted()) {
        const text = await redis.hget(key, sessionId);
        if (text === null) continue;
        const events = (): AsyncIterable<unknown> => this.#members(`${prefix}event:${suffix}:${sessionId}`);
        const summaries = (): Promise<string | null> => redis.hget(`${prefix}sesssum:${suffix}`, sessionId);
        yield { ...owner, sessionId, text, ttlMs, events, summaries };
      }
    }
  }

  /** `hashidx:meta:app:{user}:session` is a session; the ids of its events by time, and the events, have keys of their own. */
  async *indexed(): AsyncGenerator<Stored> {
    const { redis, prefix } = this;
    for await (const key of this.#keys('hashidx:meta:')) {
      const [text, ttlMs] = [await redis.get(key), await redis.pttl(key)];
      if (text === null) continue;
      const ids = indexedKey(text);
      const suffix = key.slice(`${prefix}hashidx:meta:`.length);
      const { appName, userId, sessionId } = ids ?? { appName: '', userId: '', sessionId: suffix };
      if (ids && (await redis.hget(`${prefix}sess:{${appName}}:${userId}`, sessionId)) !== null) continue;
      const events = (): AsyncIterable<unknown> => this.#indexedEvents(suffix);
      const summaries = (): Promise<string | null> => redis.get(`${prefix}hashidx:sesssum:${suffix}`);
      yield { appName, userId, sessionId, text, ttlMs, events, summaries };
    }
  }

  /** State of users is in both layouts, the newer one first. State of apps is in one place. */
  async *states(): AsyncGenerator<TransferRecord> {
    const users = new Set<string>();
    for await (const key of this.#keys('hashidx:userstate:')) {
      const owner = indexedOwner(key.slice(`${this.prefix}hashidx:userstate:`.length));
      if (!owner) continue;
      users.add(JSON.stringify(owner));
      yield* this.#state(key, owner);
    }
    for await (const key of this.#keys('userstate:')) {
      const owner = olderOwner(key.slice(`${this.prefix}userstate:`.length));
      if (owner && !users.has(JSON.stringify(owner))) yield* this.#state(key, owner);
    }
    for await (const key of this.#keys('appstate:')) {
      const [, appName] = /^\{(.+)\}$/s.exec(key.slice(`${this.prefix}appstate:`.length)) ?? [];
      if (appName !== undefined) yield* this.#state(key, { appName });
    }
  }

  async *#state(key: string, owner: { appName: string; userId?: string }): AsyncGenerator<TransferRecord> {
    const [stored, ttlMs] = [await this.redis.hgetall(key), await this.redis.pttl(key)];
    const values = Object.entries(stored).map(([name, text]) => [name, valueOf(text)] as const);
    const entries = entriesOf(Object.fromEntries(values));
    const expiresAt = ttlMs > 0 ? Date.now() + ttlMs : undefined;
    yield* recordsOrBad(owner, () => [{ kind: 'state', ...owner, expiresAt, entries }]);
  }

  #keys(name: string): AsyncGenerator<string> {
    return keysOf(this.nodes, `${literalPattern(`${this.prefix}${name}`)}*`);
  }

  async *#indexedEvents(suffix: string): AsyncGenerator {
    const data = `${this.prefix}hashidx:evtdata:${suffix}`;
    for await (const ids of this.#pages(`${this.prefix}hashidx:evtidx:time:${suffix}`)) {
      const events = await this.redis.hmget(data, ...ids);
      yield* events.filter((event) => event !== null);
    }
  }

  async *#members(key: string): AsyncGenerator<string> {
    for await (const page of this.#pages(key)) yield* page;
  }

  async *#pages(key: string): AsyncGenerator<string[]> {
    for (let from = 0; ; from += EVENTS_PER_PAGE) {
      const page = await this.redis.zrange(key, from, from + EVENTS_PER_PAGE - 1);
      if (page.length > 0) yield page;
      if (page.length < EVENTS_PER_PAGE) return;
    }
  }
}

/** Of `{app}:user`. */
function olderOwner(text: string): UserKey | undefined {
  const [, appName, userId] = /^\{(.+?)\}:(.+)$/s.exec(text) ?? [];
  return appName === undefined || userId === undefined ? undefined : { appName, userId };
}

/** Of `app:{user}`. */
function indexedOwner(text: string): UserKey | undefined {
  const [, appName, userId] = /^(.+?):\{(.+)\}$/s.exec(text) ?? [];
  return appName === undefined || userId === undefined ? undefined : { appName, userId };
}

function indexedKey(text: string): SessionKey | undefined {
  try {
    const { appName, userID, id } = JSON.parse(text) as Record<string, unknown>;
    return { appName: textOf(appName), userId: textOf(userID), sessionId: textOf(id) };
  } catch {
    return undefined;
  }
}
