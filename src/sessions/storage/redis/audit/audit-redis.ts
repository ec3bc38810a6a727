import { Cluster, type Redis } from 'ioredis';
import { ConfigurationError } from '../../../../config/configuration-error.js';
import type { AuditPage, AuditRequest, StoreProblem } from '../../store-audit.js';
import { isNotPermitted, storeUnavailable } from '../connect/driver-errors.js';
import type { RedisClient } from '../connect/redis-options.js';
import type { KeyKind } from '../redis-keys.js';
import { ID_FIELD } from '../script/codec.js';
import { auditEvents, auditIds } from './audit-ids.js';
import { FIELDS_OF_ENTRIES, auditEntries } from './audit-entries.js';
import { auditKey, parseSessionFromKey, wordOf } from './audit-key.js';
import { MEMBER_KINDS, type MemberKind, auditMembers, parseOwnerFromKey } from './audit-members.js';
import type { AuditTools } from './audit-session.js';

/** Where an audit is: a scan of the keys of each node, and in between the members of the indexes that it met. */
interface Position {
  readonly node: number;
  readonly scan: string;
  /** Indexes to go through before the scan goes on. */
  readonly indexes: readonly string[];
  /** The place in the first of them. */
  readonly place: string;
}

const BEGINNING: Position = { node: 0, scan: '0', indexes: [], place: '0' };

/** Examines the next keys, or the next members of an index. Each command looks at about as many entries as asked for. */
export async function auditRedis(
  client: RedisClient,
  tools: AuditTools,
  { cursor, limit }: AuditRequest,
): Promise<AuditPage> {
  const position = cursor === undefined ? BEGINNING : (JSON.parse(cursor) as Position);
  const [index] = position.indexes;
  const nodes = mastersOf(client);
  const { problems, examined, next } =
    index === undefined
      ? await scanKeys(nodes, tools, position, limit)
      : await scanIndex(nodes, tools, position, limit);
  const isMore = next.node < nodes.length || next.indexes.length > 0;
  return { problems, examined, ...(isMore && { nextCursor: JSON.stringify(next) }) };
}

interface Scanned {
  readonly problems: readonly StoreProblem[];
  readonly examined: number;
  readonly next: Position;
}

/** In an order of their own, which does not change from call to call. */
function mastersOf(client: RedisClient): readonly Redis[] {
  if (!(client instanceof Cluster)) return [client];
  return client.nodes('master').toSorted((a, b) => (formatNodeAddress(a) < formatNodeAddress(b) ? -1 : 1));
}

function formatNodeAddress({ options }: Redis): string {
  return `${options.host}:${options.port}`;
}

async function scanKeys(
  nodes: readonly Redis[],
  tools: AuditTools,
  position: Position,
  limit: number,
): Promise<Scanned> {
  const node = nodes[position.node];
  if (!node) return { problems: [], examined: 0, next: { ...position, node: nodes.length } };
  const pattern = `${tools.keys.withPrefix('').replaceAll(/[*?[\]\\]/g, '\\$&')}*`;
  const [scan, found] = await permitted(() => node.scan(position.scan, 'MATCH', pattern, 'COUNT', limit));
  const problems: StoreProblem[] = [];
  const indexes: string[] = [];
  for (const key of new Set(found)) {
    const kind = tools.keys.kindOf(key);
    if (kind && (isOfEntries(kind) || (isOfSessions(kind) && MEMBER_KINDS.includes(wordOf(kind))))) indexes.push(key);
    else {
      problems.push(...(await auditKey(tools, key)));
      if (kind?.name === LOG) indexes.push(key);
    }
  }
  const next = scan === '0' ? { ...BEGINNING, node: position.node + 1, indexes } : { ...position, scan, indexes };
  return { problems, examined: found.length, next };
}

/** The keys with the events of a session and their ids, which are looked up in each other. */
const LOG = '{app|user}:session';
/** The place where the ids of a session begin, after its events. */
const IDS = 'ids:';

/** Entries have keys of their own. */
function isOfSessions({ name }: KeyKind): boolean {
  return name.startsWith('{app');
}

function isOfEntries({ name }: KeyKind): boolean {
  return name === '{@entries}:entries';
}

async function scanIndex(
  nodes: readonly Redis[],
  tools: AuditTools,
  position: Position,
  limit: number,
): Promise<Scanned> {
  const [key = '', ...others] = position.indexes;
  const kind = tools.keys.kindOf(key);
  const isEntries = kind !== undefined && isOfEntries(kind);
  const owner = isEntries ? undefined : parseOwnerFromKey(tools.keys, key);
  const isLog = kind?.name === LOG;
  if (isLog && !position.place.startsWith(IDS)) return findEvents(tools, position, limit);
  // The scan has gone on to the next node once it was at the end of this one.
  const node = nodes[position.scan === '0' ? position.node - 1 : position.node];
  if (!kind || (!owner && !isEntries) || !node)
    return { problems: [], examined: 0, next: { ...position, indexes: others, place: '0' } };
  const cursor = isLog ? position.place.slice(IDS.length) : position.place;
  const [place, flat] = await permitted(() => {
    // Without the texts of the events.
    if (isLog) return node.hscan(key, cursor, 'MATCH', `${ID_FIELD}*`, 'COUNT', limit);
    if (isEntries) return node.hscan(key, cursor, 'MATCH', FIELDS_OF_ENTRIES, 'COUNT', limit);
    return kind.type === 'hash' ? node.hscan(key, cursor, 'COUNT', limit) : node.zscan(key, cursor, 'COUNT', limit);
  });
  const members = flat.filter((_, index) => index % 2 === 0);
  const session = isLog ? parseSessionFromKey(tools.keys, key) : undefined;
  const problems = session
    ? await auditIds(tools, session, members)
    : owner
      ? await auditMembers(tools, { key, owner, kind: wordOf(kind) as MemberKind }, members)
      : await auditEntries(tools, key, members);
  const next =
    place === '0'
      ? { ...position, indexes: others, place: '0' }
      : { ...position, place: isLog ? `${IDS}${place}` : place };
  return { problems, examined: members.length, next };
}

/** Goes through the log of a session by numbers, since a scan would send the texts of events. Its ids follow. */
async function findEvents(tools: AuditTools, position: Position, limit: number): Promise<Scanned> {
  const [key = '', ...others] = position.indexes;
  const session = parseSessionFromKey(tools.keys, key);
  if (!session) return { problems: [], examined: 0, next: { ...position, indexes: others, place: '0' } };
  const from = Math.max(1, Number(position.place));
  const { problems, examined, next } = await auditEvents(tools, { session, from, count: limit });
  return { problems, examined, next: { ...position, place: next === undefined ? `${IDS}0` : String(next) } };
}

async function permitted<Result>(command: () => Promise<Result>): Promise<Result> {
  try {
    return await command();
  } catch (error) {
    if (isNotPermitted(error)) {
      throw new ConfigurationError(['The user of Redis may not run SCAN, HSCAN or ZSCAN: grant them for a check.']);
    }
    throw storeUnavailable(error, false);
  }
}
