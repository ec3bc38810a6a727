import type { Redis } from 'ioredis';
import { RECORD_LINES } from '../../../src/sessions/storage/record-text.js';
import { keysUnder } from '../redis-store.js';
import { isOfEntries, problemsOfStoredEntries } from './redis-entries-integrity.js';
import type { RedisClusterDescription, RedisDescription } from './store-description.js';

const NEVER = 8_640_000_000_000_000;
const PARTS_OF_SESSIONS = new Set(['anchors', 'state', 'pending']);

/** The content of a key: the fields of a hash, the members of a sorted set with their scores, or the items of a list by position. */
type Content = ReadonlyMap<string, string>;
type Contents = ReadonlyMap<string, Content>;

interface KnownSession {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
  readonly record: Content;
  /** The content of one of its keys. */
  part(kind: string): Content;
}

/**
 * Inconsistencies in an idle store with this prefix: keys without a session, unfinished
 * work, logs, ids and indexes that contradict each other. It uses the documented keys, not the code of the store.
 */
export async function redisProblems(
  nodes: readonly Redis[],
  { kind, prefix }: Pick<RedisDescription | RedisClusterDescription, 'kind' | 'prefix'>,
): Promise<string[]> {
  const all = await contentsUnder(nodes, prefix);
  const contents = new Map([...all].filter(([key]) => !isOfEntries(key)));
  const sessions = [...contents].flatMap(([key, record]) => knownSession(contents, key, record) ?? []);
  return [
    ...[...contents.keys()].flatMap((key) => problemOfKey(contents, key)),
    ...sessions.flatMap(problemsOfLog),
    ...indexKeys(contents, sessions, kind === 'redis').flatMap((key) => problemsOfIndex(key, contents, sessions)),
    ...sessions.flatMap((session) => problemsOfRegistry(session, contents)),
    ...problemsOfEntries(contents, sessions, kind === 'redis'),
    ...problemsOfMarks(contents, sessions),
    ...problemsOfStoredEntries(all),
  ];
}

async function contentsUnder(nodes: readonly Redis[], prefix: string): Promise<Contents> {
  const all = nodes.map(async (node) => {
    const keys = await keysUnder(node, prefix);
    return Promise.all(keys.map(async (key) => [key.slice(prefix.length), await contentOf(node, key)] as const));
  });
  return new Map((await Promise.all(all)).flat());
}

async function contentOf(node: Redis, key: string): Promise<Content> {
  const type = await node.type(key);
  if (type === 'hash') return new Map(Object.entries(await node.hgetall(key)));
  const flat = type === 'zset' ? await node.zrange(key, 0, -1, 'WITHSCORES') : [];
  return new Map(flat.flatMap((member, index) => (index % 2 === 0 ? [[member, flat[index + 1] ?? ''] as const] : [])));
}

function knownSession(contents: Contents, key: string, record: Content): KnownSession | undefined {
  const [, app, user, id] = /^\{([^|}]*)\|([^}]*)\}:session:(.*)$/.exec(key) ?? [];
  if (app === undefined || user === undefined || id === undefined) return undefined;
  const [appName, userId, sessionId] = [app, user, id].map(decodeURIComponent) as [string, string, string];
  const part = (kind: string): Content => contents.get(key.replace('}:session:', `}:${kind}:`)) ?? new Map();
  return { appName, userId, sessionId, record: fieldsOf(record), part };
}

/** The fields of a session's hash, and the lines of its record. */
function fieldsOf(hash: Content): Content {
  const lines = hash.get('record')?.split('\n') ?? [];
  return new Map([...hash, ...RECORD_LINES.map((name, index) => [name, lines[index] ?? ''] as const)]);
}

/** Whether a key is of a known kind, has a session, and is no unfinished work. */
function problemOfKey(contents: Contents, key: string): string[] {
  const [, base, kind = '', id] = /^(\{[^}]*\}):([a-z-]+)(?::(.*))?$/.exec(key) ?? [];
  if (key === 'apps' || kind === 'applied' || isOfConsumers(key)) return [];
  if (kind === 'session') return contents.get(key)?.has('record') ? [] : [`${key} has no record`];
  if (PARTS_OF_SESSIONS.has(kind)) {
    if (!contents.get(`${base}:session:${id}`)?.has('record')) return [`${key} belongs to no session`];
    return kind === 'pending' ? [`${key} was left behind`] : [];
  }
  if (kind === 'user-state' || kind === 'app-state') {
    return contents.get(key)?.has('') ? [] : [`${key} has no expiry`];
  }
  return ['by-update', 'by-creation', 'expiring', 'by-entry', 'entries', 'usage', 'users'].includes(kind)
    ? []
    : [`${key} is not a key of the store`];
}

function isOfConsumers(key: string): boolean {
  return /^\{@consumers\}:(changed|slots)$|^\{@\d+\}:changed$/.test(key);
}

/** Expects the indexes of changed sessions to have exactly the sessions with waiting events, at their time. */
function problemsOfMarks(contents: Contents, sessions: readonly KnownSession[]): string[] {
  const expected = sessions
    .filter(({ record }) => Number(record.get('waiting')) > 0)
    .map(({ appName, userId, sessionId, record }) =>
      [appName, userId, sessionId, record.get('waiting')].join('\u0000'),
    );
  const found = [...contents].flatMap(([key, content]) =>
    key.endsWith('}:changed') ? Array.from(content, ([member, time]) => `${member}\u0000${time}`) : [],
  );
  return [
    ...found.filter((mark) => !expected.includes(mark)).map((mark) => `${mark} is marked, but nothing waits`),
    ...expected.filter((mark) => !found.includes(mark)).map((mark) => `${mark} waits, but is not marked`),
  ];
}

/** The log has no gap, and each event is found by its id. */
function problemsOfLog({ appName, userId, sessionId, record, part }: KnownSession): string[] {
  const name = `${appName}/${userId}/${sessionId}`;
  const last = Number(record.get('last'));
  const fieldsWith = (start: RegExp): [string, string][] => [...part('session')].filter(([field]) => start.test(field));
  const events = new Map(fieldsWith(/^\d/));
  const ids = new Map(fieldsWith(/^=/).map(([field, seq]) => [field.slice(1), seq]));
  const numbers = [...events.keys()].map(Number).toSorted((a, b) => a - b);
  const hasGaps = numbers.length !== last || numbers.some((seq, index) => seq !== index + 1);
  const strays = [...ids].filter(([id, seq]) => events.get(seq)?.split('\n', 4)[3] !== id);
  const runs = fieldsWith(/^\0/).map(([, text]) => text);
  const grouped = runs.flatMap((text) => seqsOfRuns(text));
  const anchors = [...part('anchors').keys()].filter((seq) => !events.has(seq));
  return [
    ...(hasGaps ? [`${name} has ${numbers.length} events, but its last event is ${last}`] : []),
    ...(strays.length > 0 || ids.size !== last ? [`${name} has ${ids.size} ids; wrong are ${strays.join(' ')}`] : []),
    ...anchors.map((seq) => `${name} has an anchor at ${seq} and no event there`),
    ...grouped
      .filter((seq) => !events.has(String(seq)))
      .map((seq) => `${name} has a group with a missing event ${seq}`),
    ...(new Set(grouped).size < grouped.length ? [`${name} has an event in two groups`] : []),
  ];
}

function seqsOfRuns(text: string): number[] {
  return Array.from(text.matchAll(/(\d+)-(\d+)/g), ([, from, to]) =>
    Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => Number(from) + index),
  ).flat();
}

const TIME_OF_INDEX: Record<string, string> = { 'by-update': 'updated', 'by-creation': 'created', expiring: 'expires' };

/** The existing and the expected indexes. Those of an app only exist on a single node. */
function indexKeys(contents: Contents, sessions: readonly KnownSession[], withApps: boolean): string[] {
  const owners = sessions.flatMap(({ appName, userId }) => {
    const [app, user] = [encodeURIComponent(appName), encodeURIComponent(userId)];
    return withApps ? [app, `${app}|${user}`] : [`${app}|${user}`];
  });
  const needed = owners.flatMap((owner) => Object.keys(TIME_OF_INDEX).map((index) => `{${owner}}:${index}`));
  return [...new Set([...contents.keys(), ...needed])];
}

/** An index holds each session of its user or app, at its time, and nothing else. */
function problemsOfIndex(key: string, contents: Contents, sessions: readonly KnownSession[]): string[] {
  const [, app, user, kind = ''] = /^\{([^|}]*)(?:\|([^}]*))?\}:([a-z-]+)$/.exec(key) ?? [];
  const field = TIME_OF_INDEX[kind];
  if (app === undefined || field === undefined) return [];
  const expected = new Map(
    sessions
      .filter(
        ({ appName, userId }) =>
          appName === decodeURIComponent(app) && (user === undefined || userId === decodeURIComponent(user)),
      )
      .map(
        ({ userId, sessionId, record }) =>
          [user === undefined ? `${userId}\u0000${sessionId}` : sessionId, Number(record.get(field))] as const,
      )
      .filter(([, time]) => kind !== 'expiring' || time < NEVER),
  );
  const found = contents.get(key) ?? new Map<string, string>();
  return [...new Set([...found.keys(), ...expected.keys()])]
    .filter((member) => Number(found.get(member)) !== expected.get(member))
    .map((member) => `${key} has ${member} at ${found.get(member)} instead of ${expected.get(member)}`);
}

/** Expects the indexes by entry to have exactly the metadata of the sessions. */
function problemsOfEntries(contents: Contents, sessions: readonly KnownSession[], withApps: boolean): string[] {
  const expected = sessions.flatMap(({ appName, userId, sessionId, record }) => {
    const [app, user] = [encodeURIComponent(appName), encodeURIComponent(userId)];
    const created = (record.get('created') ?? '').padStart(16, '0');
    const lines = (record.get('metadata') ?? '').matchAll(/^((?:status|tag:.*|label:.*)\n.*)\n/gm);
    const entries = [...lines].map(([, entry = '']) => entry);
    return [
      ...entries.map((entry) => `{${app}|${user}}:by-entry has ${entry}\n${created}\n${sessionId}`),
      ...entries.flatMap((entry) =>
        withApps ? [`{${app}}:by-entry has ${entry}\n${created}\n${userId}\u0000${sessionId}`] : [],
      ),
      ...(entries.length > 0 ? [`{${app}|${user}}:entries has ${sessionId}`] : []),
    ];
  });
  const found = [...contents].flatMap(([key, content]) =>
    /:(by-entry|entries)$/.test(key) ? [...content.keys()].map((member) => `${key} has ${member}`) : [],
  );
  return [
    ...found.filter((place) => !expected.includes(place)),
    ...expected.filter((place) => !found.includes(place)).map((place) => `It is missing that ${place}`),
  ];
}

/** Lists of an app and the purge find each session through its registered user. */
function problemsOfRegistry({ appName, userId, sessionId, record }: KnownSession, contents: Contents): string[] {
  const app = encodeURIComponent(appName);
  const due = Number(contents.get(`{${app}}:users`)?.get(userId) ?? NaN);
  const name = `${appName}/${userId}/${sessionId}`;
  return [
    ...(contents.get('apps')?.has(appName) ? [] : [`${name} belongs to an unregistered app`]),
    ...(due <= Number(record.get('expires')) ? [] : [`${name} belongs to a user who is registered at ${due}`]),
  ];
}
