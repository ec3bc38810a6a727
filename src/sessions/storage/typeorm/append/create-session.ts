import { isExpired } from '../../../domain/values/expiry.js';
import { EMPTY_LOG, NOTHING_WAITS } from '../../../domain/stored/session-record.js';
import { scopeOfOwner } from '../../../domain/values/ids.js';
import { writeExcessError } from '../../../domain/stored/state-size.js';
import { scopesWritten, writesOf } from '../../../domain/stored/stored-json.js';
import type { StoredSession } from '../../session-storage.js';
import type { NewSessionRequest } from '../../session-store.js';
import { sharedOwnersOf } from '../../state-owners.js';
import { changeIndex, lockSession } from '../sql/session-rows.js';
import { sql } from '../sql/sql.js';
import type { SqlTransaction, Transactions } from '../sql/transaction.js';
import { LockedScopes } from '../state/locked-scopes.js';
import { expectSharedReadable, selectState, type StateRow, parseStateRows } from '../state/read-state.js';
import { toPlannedEntries, ScopeWriter, STATE_OWNER, writeEntries } from '../state/write-state.js';
import { createDirectly } from './create-directly.js';
import type { DirectWrites } from './direct-writes.js';
import { insertOfSession } from './insert-session.js';
import { insertEvents } from './planned-rows.js';

/** User and app. */
const BOTH = 2;

/** Creates a session; returns `undefined` if a live one has the id. */
export async function createSession(
  transactions: Transactions & DirectWrites,
  request: NewSessionRequest,
  stamp: number,
): Promise<StoredSession | undefined> {
  const calledAt = performance.now();
  const direct = await createDirectly(transactions, request, stamp, calledAt);
  if (direct) return direct;
  const work = (transaction: SqlTransaction) => createInTransaction(transaction, request, stamp);
  const created = await transactions.write(work, { calledAt, beginsLazily: true });
  return created?.();
}

/** Also replaces an expired session. What it returns throws if the state of user or app has just become too large: an import writes it. */
async function createInTransaction(
  transaction: SqlTransaction,
  {
    key,
    baseState,
    upserts,
    expiry,
    metadata = '',
    log = EMPTY_LOG,
    maxStateBytes,
    stateText,
    recordAt,
  }: NewSessionRequest,
  stamp: number,
): Promise<(() => StoredSession) | undefined> {
  const found = await lockSession(transaction, key);
  const { tables, now } = transaction;
  if (found && !isExpired(found.record.expiresAt, now)) return undefined;
  if (found) await transaction.change(sql`DELETE FROM ${tables.sessions} WHERE pk = ${found.pk}`);

  const commit = { key, upserts, removals: [], expiry, maxStateBytes };
  const written = scopesWritten(commit);
  const scopes = await LockedScopes.lock(transaction, written);
  await scopes.expectReadable(written, maxStateBytes);
  // Those that are not locked.
  if (written.length < BOTH) await expectSharedReadable(transaction, key, maxStateBytes);
  const excess = await scopes.excessOfCommit(commit);
  if (excess) throw writeExcessError(excess);

  const blank = recordAt(now);
  const pk = await transaction.insert(
    insertOfSession(tables, { record: blank, stamp, baseState, metadata, stateText }),
    'pk',
  );
  const record = { ...blank, incarnation: String(pk) };
  const events = log.events.map((event, index) => ({ ...event, pk, seq: record.firstSeq + index }));
  for (const statement of insertEvents(tables, events)) await transaction.change(statement);
  if (record.waitingSince !== NOTHING_WAITS) transaction.notifyConsumers('marks');
  const shared = new ScopeWriter(transaction, scopes);
  for (const owner of sharedOwnersOf(key)) {
    const entries = toPlannedEntries(writesOf(scopeOfOwner(owner), commit));
    shared.add({ owner, lifetime: expiry[scopeOfOwner(owner)], entries });
  }
  scopes.growBy(commit);
  const ownState = stateText === undefined ? toPlannedEntries(writesOf('session', commit)) : [];
  const own = ownState.map((entry) => ({ ...entry, ownerPk: pk }));
  const indexed = changeIndex(tables, { pk, record, before: '', after: metadata });
  transaction.addToCommit([
    ...indexed,
    ...writeEntries(transaction.dialect, tables.sessionState, STATE_OWNER, own),
    ...(await shared.statements()),
  ]);
  const [rows = []] = await transaction.commitWith([
    selectState(transaction, { pk, record, state: stateText }, maxStateBytes),
  ]);
  const stored = { record, now, events: [], metadata };
  return () => ({
    ...stored,
    ...parseStateRows(rows as StateRow[], key, { limits: maxStateBytes, text: stateText, isWritten: true }),
  });
}
