import { isTempKey } from '../../state/scopes.js';
import { ByteBudget, jsonBytes } from '../domain/byte-budget.js';
import { StateChangeCursor } from '../domain/cursors.js';
import { InvalidInputError, SessionNotFoundError } from '../domain/errors.js';
import { type SessionKey, checkedSessionKey } from '../domain/ids.js';
import { optionalCount } from '../domain/optional-count.js';
import { checkedLimit } from '../domain/paging.js';
import type { SessionRecord } from '../domain/session-record.js';
import { type StateKeyChange, changesBy } from '../domain/state-change.js';
import { assertStateKey } from '../domain/state-keys.js';
import { loggedEvent } from '../domain/stored-json.js';
import type { SessionEnvironment } from '../session-environment.js';
import { LogPoints, fromStableLog } from './log-point.js';

/** The changes to list. */
export interface StateChangesRequest extends SessionKey {
  /** Only changes by events after this one. */
  readonly afterSeq?: number | undefined;
  /** Only changes of this key, with its prefix. */
  readonly key?: string | undefined;
  /** Changes per page. Default 100, at most 1,000. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
}

/** A page of state changes. */
export interface StateChangePage {
  /** In the order of the log. May be empty on a page that has a next one. */
  readonly changes: StateKeyChange[];
  /** First retained event. Changes by earlier ones are not known. */
  readonly firstSeq: number;
  /** Last event of the log, not of this page. */
  readonly lastSeq: number;
  /** For the next page. Missing on the last page. */
  readonly nextCursor?: string;
}

/** Events per page, so that a page of a rare key does not read a whole log. */
const MOST_EVENTS = 1_000;

/** Where a page begins. */
interface PageStart {
  readonly seq: number;
  /** How many changes of that event were on the previous page. */
  readonly skip: number;
}

interface PageLimits {
  readonly key: string | undefined;
  readonly limit: number;
  readonly maxBytes: number;
}

/** A page of changes. It is shorter if its values are large. */
export async function stateChanges(env: SessionEnvironment, request: StateChangesRequest): Promise<StateChangePage> {
  const session = checkedSessionKey(request);
  const after = optionalCount(request.afterSeq, 'afterSeq') ?? 0;
  const limits = {
    key: checkedKey(request.key),
    limit: checkedLimit(request.limit),
    maxBytes: env.limits.maxPageBytes,
  };
  const cursor = StateChangeCursor.parse(request.cursor);
  return fromStableLog(async () => {
    const read = await env.storage.read({ key: session });
    if (!read || (cursor && cursor.incarnation !== read.record.incarnation)) {
      throw new SessionNotFoundError(session.sessionId);
    }
    const { record } = read;
    const log = new LogPoints(env.storage, record);
    const { changes, next } = await readPage(log, record, startOf(record, after, cursor), limits);
    const { firstSeq, lastSeq, incarnation } = record;
    const nextCursor = next && new StateChangeCursor(incarnation, next.seq, next.skip).toString();
    return { changes, firstSeq, lastSeq, ...(nextCursor && { nextCursor }) };
  });
}

function checkedKey(key: string | null | undefined): string | undefined {
  if (key === undefined || key === null) return undefined;
  assertStateKey(key, 'key');
  if (isTempKey(key)) throw new InvalidInputError('a temp: key is never stored, so it has no changes', 'key');
  return key;
}

function startOf({ firstSeq }: SessionRecord, after: number, cursor: StateChangeCursor | undefined): PageStart {
  const wanted = cursor && cursor.seq > after ? cursor : { seq: after + 1, skip: 0 };
  return wanted.seq < firstSeq ? { seq: firstSeq, skip: 0 } : wanted;
}

async function readPage(
  log: LogPoints,
  { lastSeq }: SessionRecord,
  start: PageStart,
  { key, limit, maxBytes }: PageLimits,
): Promise<{ readonly changes: StateKeyChange[]; readonly next?: PageStart }> {
  const changes: StateKeyChange[] = [];
  if (start.seq > lastSeq || limit === 0) return { changes };
  const { fold } = await log.pointAt(start.seq - 1);
  const budget = new ByteBudget(maxBytes);
  const to = Math.min(lastSeq, start.seq + MOST_EVENTS - 1);
  for await (const stored of log.read({ from: start.seq, to })) {
    const event = loggedEvent(stored);
    const { seq } = event;
    const found = changesBy(event, fold).filter((change) => key === undefined || change.key === key);
    for (let index = seq === start.seq ? start.skip : 0; index < found.length; index++) {
      const change = found[index] as StateKeyChange;
      if (changes.length === limit || !budget.take(jsonBytes(change))) return { changes, next: { seq, skip: index } };
      changes.push(change);
    }
    fold.add(event);
  }
  return to < lastSeq ? { changes, next: { seq: to + 1, skip: 0 } } : { changes };
}
