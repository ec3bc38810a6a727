import type { Clock } from '../../../src/sessions/domain/process/clock.js';
import { parseFilter } from './filter-language.js';

/** A refusal, as Google's APIs say it. */
export class ApiError extends Error {
  constructor(
    readonly code: number,
    readonly status: string,
    message: string = status,
    readonly field?: string,
  ) {
    super(message);
  }
}

type Json = Record<string, unknown>;

export interface StoredEvent extends Json {
  name: string;
  timestamp: string;
}

export interface ManagedSession {
  name: string;
  userId: string;
  createTime: string;
  updateTime: string;
  expireTime: string;
  sessionState: Json;
  labels?: Record<string, string>;
  displayName?: string;
  events: StoredEvent[];
  /** How many lists do not show it yet. */
  hiddenInLists: number;
}

export interface ServiceRules {
  /** The documented minimum is a day. */
  readonly minTtlMs: number;
  readonly maxTtlMs: number;
  /** Whether `rawEvent` is a field of events. */
  readonly knowsRawEvent: boolean;
  /** The most that a page has, whatever is asked for. */
  readonly maxPage: number;
  /** How many lists do not show a new session. */
  readonly listLag: number;
}

const ID = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const YEAR_MS = 365 * 86_400_000;
const SESSION_FIELDS = ['userId', 'sessionState', 'ttl', 'expireTime', 'displayName', 'labels'];
const EVENT_FIELDS = [
  'author',
  'invocationId',
  'timestamp',
  'content',
  'errorCode',
  'errorMessage',
  'actions',
  'eventMetadata',
];
const ACTION_FIELDS = [
  'skipSummarization',
  'stateDelta',
  'artifactDelta',
  'transferAgent',
  'escalate',
  'requestedAuthConfigs',
];
const METADATA_FIELDS = [
  'partial',
  'turnComplete',
  'interrupted',
  'branch',
  'longRunningToolIds',
  'groundingMetadata',
  'customMetadata',
];
const PART_FIELDS = [
  'text',
  'thought',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
];

/** The sessions of one reasoning engine, by the rules of the documented API. */
export class ManagedSessions {
  readonly sessions = new Map<string, ManagedSession>();
  #events = 0;

  constructor(
    private readonly engine: string,
    private readonly clock: Clock,
    private readonly rules: ServiceRules,
  ) {}

  create(id: string, body: Json): ManagedSession {
    onlyFields(body, SESSION_FIELDS, 'session');
    if (!ID.test(id)) throw new ApiError(400, 'INVALID_ARGUMENT', 'The session id is not valid', 'session_id');
    if (typeof body.userId !== 'string' || body.userId === '')
      throw new ApiError(400, 'INVALID_ARGUMENT', 'user_id', 'user_id');
    const labels = (body.labels ?? {}) as Record<string, string>;
    for (const [key, value] of Object.entries(labels)) {
      if (!/^[\p{Ll}\p{N}_-]{1,64}$/u.test(key) || !/^[\p{Ll}\p{N}_-]{0,64}$/u.test(value)) {
        throw new ApiError(400, 'INVALID_ARGUMENT', 'labels', 'labels');
      }
    }
    if (this.#live(id)) throw new ApiError(409, 'ALREADY_EXISTS');
    const now = this.#time();
    const session: ManagedSession = {
      name: `${this.engine}/sessions/${id}`,
      userId: body.userId,
      createTime: now,
      updateTime: now,
      expireTime: this.#expiry(body) ?? timeText(this.clock.now() + YEAR_MS),
      sessionState: struct(body.sessionState ?? {}) as Json,
      ...(body.labels !== undefined && { labels }),
      events: [],
      hiddenInLists: this.rules.listLag,
    };
    this.sessions.set(id, session);
    return session;
  }

  get(id: string): ManagedSession {
    const session = this.#live(id);
    if (!session) throw new ApiError(404, 'NOT_FOUND');
    return session;
  }

  patch(id: string, mask: string | null, body: Json): ManagedSession {
    const session = this.get(id);
    for (const field of (mask ?? '').split(',')) {
      if (field === 'ttl' || field === 'expireTime') session.expireTime = this.#expiry(body) ?? session.expireTime;
      else if (field === 'sessionState') session.sessionState = struct(body.sessionState ?? {}) as Json;
      else throw new ApiError(400, 'INVALID_ARGUMENT', `update_mask ${field}`, 'update_mask');
    }
    session.updateTime = this.#time();
    return session;
  }

  delete(id: string): void {
    this.get(id);
    this.sessions.delete(id);
  }

  append(id: string, event: Json): void {
    const session = this.get(id);
    onlyFields(event, this.rules.knowsRawEvent ? [...EVENT_FIELDS, 'rawEvent'] : EVENT_FIELDS, 'event');
    for (const required of ['author', 'invocationId', 'timestamp']) {
      if (typeof event[required] !== 'string' || event[required] === '') {
        throw new ApiError(400, 'INVALID_ARGUMENT', `event.${required} is required`, `event.${required}`);
      }
    }
    const actions = (event.actions ?? {}) as Json;
    onlyFields(actions, ACTION_FIELDS, 'event.actions');
    onlyFields((event.eventMetadata ?? {}) as Json, METADATA_FIELDS, 'event.event_metadata');
    for (const part of ((event.content as Json | undefined)?.parts ?? []) as Json[])
      onlyFields(part, PART_FIELDS, 'event.content.parts');
    session.events.push({ ...(struct(event) as StoredEvent), name: `${session.name}/events/${++this.#events}0` });
    session.events.sort((a, b) => compareTimes(a.timestamp, b.timestamp));
    for (const [key, value] of Object.entries((actions.stateDelta ?? {}) as Json)) {
      Object.defineProperty(session.sessionState, key, {
        value: struct(value),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    session.updateTime = this.#time();
  }

  events(id: string, query: URLSearchParams): Json {
    const { events } = this.get(id);
    const order = query.get('orderBy') ?? 'timestamp';
    if (!/^timestamp( desc| asc)?$/.test(order)) throw new ApiError(400, 'INVALID_ARGUMENT', 'order_by', 'order_by');
    const filter = query.get('filter');
    const terms = filter === null ? [] : parseFilter(filter);
    if (!terms || terms.some(({ field, operator }) => field !== 'timestamp' || operator !== '>=')) {
      throw new ApiError(400, 'INVALID_ARGUMENT', 'filter', 'filter');
    }
    const found = events.filter(({ timestamp }) => terms.every(({ value }) => compareTimes(timestamp, value) >= 0));
    const { page, nextPageToken } = paged(
      order.endsWith('desc') ? found.toReversed() : found,
      query,
      this.rules.maxPage,
    );
    return { sessionEvents: page, ...(nextPageToken && { nextPageToken }) };
  }

  list(query: URLSearchParams): Json {
    const filter = query.get('filter');
    const terms = filter === null ? [] : parseFilter(filter);
    if (!terms) throw new ApiError(400, 'INVALID_ARGUMENT', 'filter', 'filter');
    const found = [...this.sessions.values()].filter((session) => {
      if (!this.#isLive(session) || session.hiddenInLists-- > 0) return false;
      return terms.every(({ field, value }) => fieldOf(session, field) === value);
    });
    const { page, nextPageToken } = paged(found, query, this.rules.maxPage);
    return { sessions: page.map(withoutEvents), ...(nextPageToken && { nextPageToken }) };
  }

  #live(id: string): ManagedSession | undefined {
    const session = this.sessions.get(id);
    return session && this.#isLive(session) ? session : undefined;
  }

  #isLive({ expireTime }: ManagedSession): boolean {
    return Date.parse(expireTime) > this.clock.now();
  }

  #time(): string {
    return timeText(this.clock.now());
  }

  #expiry({ ttl, expireTime }: Json): string | undefined {
    if (ttl !== undefined && expireTime !== undefined) throw new ApiError(400, 'INVALID_ARGUMENT', 'expiration', 'ttl');
    if (ttl === undefined && expireTime === undefined) return undefined;
    const [, seconds] = /^(\d+(?:\.\d{1,9})?)s$/.exec(String(ttl)) ?? [];
    const ttlMs =
      expireTime === undefined ? Number(seconds) * 1000 : Date.parse(expireTime as string) - this.clock.now();
    const { minTtlMs, maxTtlMs } = this.rules;
    if (!(ttlMs >= minTtlMs && ttlMs <= maxTtlMs)) throw new ApiError(400, 'INVALID_ARGUMENT', 'ttl', 'ttl');
    return timeText(Math.floor(this.clock.now() + ttlMs));
  }
}

export function withoutEvents({ events: _events, hiddenInLists: _hidden, ...session }: ManagedSession): Json {
  return session;
}

function fieldOf(session: ManagedSession, field: string): unknown {
  if (field === 'user_id' || field === 'userId') return session.userId;
  if (field === 'display_name') return session.displayName;
  if (field.startsWith('labels.')) return session.labels?.[field.slice('labels.'.length)];
  throw new ApiError(400, 'INVALID_ARGUMENT', `filter ${field}`, 'filter');
}

function paged<Item>(
  items: readonly Item[],
  query: URLSearchParams,
  maxPage: number,
): { page: Item[]; nextPageToken?: string } {
  const size = Math.min(maxPage, Number(query.get('pageSize') ?? maxPage));
  const from = Number(Buffer.from(query.get('pageToken') ?? '', 'base64url').toString() || 0);
  const next = from + size;
  const page = items.slice(from, next);
  return next < items.length ? { page, nextPageToken: Buffer.from(String(next)).toString('base64url') } : { page };
}

/** Values go through protobuf, which keeps no order of keys. */
function struct(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(struct);
  if (typeof value !== 'object' || value === null) return value;
  const sorted: Json = {};
  for (const key of Object.keys(value).sort()) {
    const member = struct((value as Json)[key]);
    Object.defineProperty(sorted, key, { value: member, enumerable: true, configurable: true, writable: true });
  }
  return sorted;
}

function onlyFields(value: Json, known: readonly string[], where: string): void {
  for (const field of Object.keys(value)) {
    if (known.includes(field)) continue;
    const said = `Invalid JSON payload received. Unknown name "${field}" at '${where}': Cannot find field.`;
    throw new ApiError(400, 'INVALID_ARGUMENT', said, where);
  }
}

export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

/** By microseconds, which a Date does not have. */
function compareTimes(a: string, b: string): number {
  const [left, right] = [a, b].map((time) => {
    const [seconds = '', fraction = ''] = time.replace(/Z$/, '').split('.');
    return `${seconds}.${fraction.padEnd(9, '0')}`;
  }) as [string, string];
  return left < right ? -1 : left > right ? 1 : 0;
}
