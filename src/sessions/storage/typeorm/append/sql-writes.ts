import { BoundedMap } from '../../../domain/process/bounded-map.js';
import { NEVER } from '../../../domain/values/expiry.js';
import type {
  Held,
  HoldOptions,
  HoldRequest,
  PlannedWrite,
  SessionHead,
  WriteAnswer,
  WriteLimits,
  WriteStore,
} from '../../planned-write.js';
import { type PlanTime, timeRange } from '../../plan-time.js';
import { ownerNameOf } from '../../state-owners.js';
import { minuteColumns } from '../sql/minutes.js';
import { rareColumns } from '../sql/session-rows.js';
import { equalities, joinSql, type Sql, sql } from '../sql/sql.js';
import type { SqlTransaction, Transactions } from '../sql/transaction.js';
import { LockedScopes } from '../state/locked-scopes.js';
import { ScopeWriter } from '../state/write-state.js';
import type { Tables } from '../tables.js';
import type { DirectWrites, PlannedMessage } from './direct-writes.js';
import { holdSessions, type LockPolicy, SKIP_LOCKED, WAIT_FOR_LOCKED } from './held-sessions.js';
import { alikeSets, allSets, PlannedRows, type PlannedSession, writeChildren, writeSums } from './planned-rows.js';

/** One statement inserts all events. */
const MAX_EVENTS = 256;
const MAX_SCOPES = 8_192;

/** Writes what was planned: in one message if the sessions are as they were, or in a transaction that has locked them. */
export class SqlWrites implements WriteStore {
  /** The keys of scopes that do not expire. */
  readonly #scopes = new BoundedMap<number>(MAX_SCOPES);

  constructor(
    private readonly open: () => Promise<Transactions & DirectWrites>,
    readonly limits: WriteLimits,
  ) {}

  async write(
    plan: (moment: PlanTime) => readonly PlannedWrite[],
    calledAt: number,
  ): Promise<readonly WriteAnswer[] | undefined> {
    const transactions = await this.open();
    let writes: readonly PlannedWrite[] = [];
    let sent: readonly PlannedWrite[] = [];
    const message = (moment: PlanTime): PlannedMessage | undefined => {
      writes = plan(moment);
      sent = withoutRareOnes(writes).filter((write) => this.#isOneMessage(write));
      return sent.length === 0 ? undefined : { rows: this.#rowsOf(sent), time: timeRange(moment) };
    };
    try {
      const answer = await transactions.writeDirectly(message, calledAt);
      if (answer === 'written')
        return writes.map((write) => ({ kind: sent.includes(write) ? 'written' : 'unwritten' }));
      this.#forgetScopes(sent);
      return answer && writes.map((write) => (sent.includes(write) ? answerTo(write, sent, answer) : UNWRITTEN));
    } catch (error) {
      this.#forgetScopes(sent);
      throw error;
    }
  }

  async hold(
    requests: readonly HoldRequest[],
    decide: (held: Held) => Promise<readonly PlannedWrite[]>,
    { waits, ...options }: HoldOptions,
  ): Promise<void> {
    const transactions = await this.open();
    let lasting: ReadonlyMap<string, number> = new Map();
    const policy = waits ? WAIT_FOR_LOCKED : SKIP_LOCKED;
    await transactions.write(
      async (transaction) => {
        lasting = await writeHeld(transaction, requests, decide, policy);
      },
      { ...options, beginsLazily: true },
    );
    for (const [owner, pk] of lasting) this.#scopes.set(owner, pk);
  }

  /** What has to be read of a shared scope, or is removed from it, needs a transaction. */
  #isOneMessage({ events, scopes }: PlannedWrite): boolean {
    if (events.length > MAX_EVENTS) return false;
    return scopes.every(({ owner, lifetime, entries }) => {
      const isLasting = lifetime.ttlMs >= NEVER && this.#scopes.has(ownerNameOf(owner));
      return isLasting && entries.every(({ value }) => value !== undefined);
    });
  }

  #rowsOf(writes: readonly PlannedWrite[]): PlannedRows {
    const rows = new PlannedRows();
    for (const write of writes) {
      rows.add(write);
      for (const { owner, entries, growth, most } of write.scopes) {
        const key = ownerNameOf(owner);
        rows.addToScope(key, { pk: this.#scopes.get(key) ?? 0, bytes: growth, most, entries });
      }
    }
    return rows;
  }

  #forgetScopes(writes: readonly PlannedWrite[]): void {
    for (const { scopes } of writes) for (const { owner } of scopes) this.#scopes.delete(ownerNameOf(owner));
  }
}

const UNWRITTEN: WriteAnswer = { kind: 'unwritten' };

/** A message for several sessions sets the same columns of each. */
function withoutRareOnes(writes: readonly PlannedWrite[]): readonly PlannedWrite[] {
  return writes.length < 2 ? writes : writes.filter((write) => !isRare(write));
}

function isRare({ before, after }: PlannedWrite): boolean {
  return rareColumns(before, after).length > 0;
}

/** If the stored sessions are all as they were, one of them is locked, or something else is in the way. */
function answerTo({ before }: PlannedWrite, sent: readonly PlannedWrite[], heads: readonly SessionHead[]): WriteAnswer {
  const stored = new Map(heads.map((head) => [head.record.incarnation, head]));
  const isUnchanged = (known: SessionHead): boolean => stored.get(known.record.incarnation)?.stamp === known.stamp;
  if (sent.every((write) => isUnchanged(write.before))) return UNWRITTEN;
  return { kind: 'changed', head: stored.get(before.record.incarnation) };
}

/** Locks sessions and scopes, and adds the statements that write what is decided. Returns the keys of scopes that do not expire. */
async function writeHeld(
  transaction: SqlTransaction,
  requests: readonly HoldRequest[],
  decide: (held: Held) => Promise<readonly PlannedWrite[]>,
  policy: LockPolicy,
): Promise<ReadonlyMap<string, number>> {
  const { held, scopes } = await lockAll(transaction, requests, policy);
  return addWrites(transaction, await decide(held), scopes);
}

/** Locks sessions, and then their scopes. */
export async function lockAll(
  transaction: SqlTransaction,
  requests: readonly HoldRequest[],
  policy: LockPolicy,
): Promise<{ readonly held: Held; readonly scopes: LockedScopes }> {
  const sessions = await holdSessions(transaction, requests, policy);
  // After the sessions, as everywhere, so that two transactions cannot wait for each other.
  const owners = requests.flatMap((request, index) => (sessions[index]?.head ? request.owners : []));
  const scopes = await LockedScopes.lock(transaction, owners);
  const held: Held = {
    get now() {
      return transaction.now;
    },
    sessions,
    scopes: {
      excessOf: (commit) => scopes.excessOfCommit(commit, policy.hasOldSnapshot),
      add: (commit) => scopes.growBy(commit),
    },
  };
  return { held, scopes };
}

/** Writes to locked sessions and scopes when the transaction ends. */
export async function addWrites(
  transaction: SqlTransaction,
  writes: readonly PlannedWrite[],
  scopes: LockedScopes,
): Promise<ReadonlyMap<string, number>> {
  const { dialect, tables } = transaction;
  const rows = new PlannedRows();
  const scopeWriter = new ScopeWriter(transaction, scopes);
  for (const write of writes) {
    rows.add(write);
    for (const scope of write.scopes) scopeWriter.add(scope);
  }
  for (const log of rows.logs) transaction.notify(log);
  for (const news of rows.news) transaction.notifyConsumers(news);
  transaction.addToCommit([
    ...updateSessions(transaction, rows.sessions),
    ...writeChildren(dialect, tables, rows),
    ...(await scopeWriter.statements()),
    ...writeSums(dialect, tables, rows),
  ]);
  return scopeWriter.lastingScopes;
}

/** From here on, one statement for all sessions is faster than one for each. */
const UPDATED_TOGETHER = 8;

function updateSessions({ tables, dialect }: SqlTransaction, sessions: readonly PlannedSession[]): Sql[] {
  const changed = sessions.filter(({ isUnchanged }) => !isUnchanged);
  const alike = changed.filter(({ rareSets }) => rareSets.length === 0);
  if (!dialect.updateRows || alike.length < UPDATED_TOGETHER) return changed.map((one) => updateSession(tables, one));
  const all = alikeSets(alike);
  const columns = all[0]?.map(([column]) => column) ?? [];
  const rows = all.map((sets, index) => [alike[index]?.pk ?? 0, ...sets.map(([, value]) => value)]);
  const others = changed.filter(({ rareSets }) => rareSets.length > 0);
  return [
    dialect.updateRows(tables.sessions, { columns, rows }),
    ...others.map((session) => updateSession(tables, session)),
  ];
}

function updateSession({ sessions }: Tables, session: PlannedSession): Sql {
  return sql`UPDATE ${sessions} SET ${equalities(allSets(session), ', ')} WHERE pk = ${session.pk}`;
}

/** The same, if the session is as it was. Without minutes that stay: SQLite writes each index anew of which a column is set. */
export function updateUnchanged({ sessions }: Tables, session: PlannedSession): Sql {
  const { pk, before, guards } = session;
  const minutes: ReadonlyMap<string, unknown> = new Map(minuteColumns(before.record));
  const changed = allSets(session).filter(([column, value]) => minutes.get(column) !== value);
  return sql`
    UPDATE ${sessions} SET ${equalities(changed, ', ')}
    WHERE pk = ${pk} AND ${equalities(guards, ' AND ')}`;
}

/** Adds to the sizes of scopes, which must still exist, never expire, and have room. Changes fewer rows than scopes otherwise. */
export function growScopes({ sharedScopes }: Tables, { scopes }: PlannedRows, order: Sql): Sql {
  const byScope = (column: 'bytes' | 'room'): Sql =>
    sql`CASE pk ${joinSql(
      scopes.map((scope) => sql`WHEN ${scope.pk} THEN ${scope[column]}`),
      ' ',
    )} END`;
  return sql`
    UPDATE ${sharedScopes} SET state_bytes = state_bytes + ${byScope('bytes')}
    WHERE pk IN (${joinSql(
      scopes.map(({ pk }) => sql`${pk}`),
      ', ',
    )}) AND expires_at = ${NEVER} AND state_bytes <= ${byScope('room')}
    ${order}`;
}
