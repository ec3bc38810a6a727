import { type Lifetime, NEVER, expiresAt } from '../../../domain/values/expiry.js';
import type { StateOwner } from '../../../domain/values/ids.js';
import { writeExcessError } from '../../../domain/stored/state-size.js';
import { type StateWrites, changesNothing } from '../../../domain/stored/stored-json.js';
import { groupBy, inBatches } from '../../../domain/stored/batches.js';
import type { PlannedEntry } from '../../planned-write.js';
import type { StateEntries, WriteStateRequest } from '../../session-storage.js';
import { ownerNameOf } from '../../state-owners.js';
import type { Dialect } from '../sql/dialect.js';
import { type Sql, joinSql, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { type LockedScope, LockedScopes, isOwner } from './locked-scopes.js';
import { readScopeAndCommit } from './read-state.js';

/** The changes to one shared scope. */
interface ScopePlan {
  readonly owner: StateOwner;
  readonly lifetime: Lifetime;
  readonly entries: readonly PlannedEntry[];
}

/** Collects the changes of shared scopes in a transaction, and writes them with few statements. */
export class ScopeWriter {
  readonly #entries = new Entries();
  readonly #scopes = new Map<string, ScopePlan>();
  /** The scopes that the statements write to, and that never expire. */
  readonly lastingScopes = new Map<string, number>();

  constructor(
    private readonly transaction: SqlTransaction,
    /** The scopes that are written to. */
    private readonly locked: LockedScopes,
  ) {}

  /** Adds changes to a shared scope. Without changes it only renews the scope. */
  add({ owner, lifetime, entries }: ScopePlan): void {
    const key = ownerNameOf(owner);
    const before = this.#scopes.get(key)?.entries ?? [];
    this.#scopes.set(key, { owner, lifetime, entries: [...before, ...entries] });
  }

  /** Inserts missing scopes, and returns the statements that write the changes. */
  async statements(): Promise<Sql[]> {
    const { transaction } = this;
    // One order for all transactions prevents deadlocks.
    const plans = [...this.#scopes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, plan]) => plan);
    const untouched = plans.filter(({ entries }) => entries.length === 0);
    const touched = plans.filter(({ entries }) => entries.length > 0);
    const renewals: Sql[] = [];
    const removals: Sql[] = [];
    for (const { owner, lifetime, entries } of touched) {
      const scope = this.locked.of(owner);
      if (scope.pk === undefined && entries.every(isRemoval)) {
        removals.push(...this.locked.deleteExpired(owner));
        continue;
      }
      const pk = scope.pk ?? (await this.locked.insert(owner, lifetime));
      for (const { name, value } of entries) this.#entries.set({ ownerPk: pk, name, value });
      if (lifetime.ttlMs >= NEVER) this.lastingScopes.set(ownerNameOf(owner), pk);
      renewals.push(...updateScope(transaction, scope, lifetime));
      if (entries.some(isRemoval)) removals.push(deleteScopeIfEmpty(transaction, pk));
    }
    const { dialect, tables } = transaction;
    return [
      ...writeEntries(dialect, tables.sharedState, SHARED_OWNER, this.#entries.sorted()),
      ...renewals,
      ...untouched.flatMap(({ owner, lifetime }) => renewScopeIfDue(transaction, owner, lifetime)),
      ...removals,
    ];
  }
}

function isRemoval({ value }: PlannedEntry): boolean {
  return value === undefined;
}

/** Both kinds of changes of a scope. No name is both set and removed. */
export function toPlannedEntries({ upserts, removals }: StateWrites): PlannedEntry[] {
  return [...removals.map(({ name }) => ({ name, value: undefined })), ...upserts];
}

/** A key of the state of a session or a scope. */
export interface Entry extends PlannedEntry {
  readonly ownerPk: number;
}

/** Collects keys to set and to remove. The last write to a key wins. */
export class Entries {
  readonly #entries = new Map<string, Entry>();

  set(entry: Entry): void {
    this.#entries.set(`${entry.ownerPk} ${entry.name}`, entry);
  }

  /** In the order of keys, which prevents deadlocks. */
  sorted(): Entry[] {
    return [...this.#entries.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
  }
}

/** The statements that write these keys. `owner` is the column of the owning session or scope. */
export function writeEntries({ onConflictSet }: Dialect, table: Sql, owner: Sql, entries: readonly Entry[]): Sql[] {
  const upserts = inBatches(entries.filter(({ value }) => value !== undefined)).map((some) => {
    const rows = some.map(({ ownerPk, name, value = null }) => sql`(${ownerPk}, ${name}, ${value})`);
    return sql`
        INSERT INTO ${table} (${owner}, name, value) VALUES ${joinSql(rows, ', ')}
        ${onConflictSet(sql`${owner}, name`, ['value'])}`;
  });
  const removed = entries.filter(({ value }) => value === undefined);
  const removals = [...groupBy(removed, ({ ownerPk }) => ownerPk)].flatMap(([ownerPk, ofOwner]) =>
    inBatches(ofOwner.map(({ name }) => name)).map(
      (names) => sql`DELETE FROM ${table} WHERE ${owner} = ${ownerPk} AND name IN (${sqlList(names)})`,
    ),
  );
  return [...upserts, ...removals];
}

export const STATE_OWNER = sql`session_pk`;
export const SHARED_OWNER = sql`scope_pk`;

/** Updates expiry and size of a locked scope if they change. */
function updateScope({ tables, now }: SqlTransaction, scope: LockedScope, lifetime: Lifetime): readonly Sql[] {
  const expiry = expiresAt(now, lifetime);
  const { atMost: bytes } = scope.size;
  if (scope.expiresAt === expiry && scope.storedBytes === bytes) return [];
  return [
    sql`UPDATE ${tables.sharedScopes} SET expires_at = ${expiry}, state_bytes = ${bytes} WHERE pk = ${scope.pk ?? 0}`,
  ];
}

/** Renews a scope that has not expired. */
export function renewScope({ tables, now }: SqlTransaction, owner: StateOwner, lifetime: Lifetime): Sql {
  return sql`
    UPDATE ${tables.sharedScopes} SET expires_at = ${expiresAt(now, lifetime)}
    WHERE ${isOwner(owner)} AND expires_at > ${now}`;
}

/** The same, if the renewal is due. It needs no read before. */
function renewScopeIfDue(transaction: SqlTransaction, owner: StateOwner, lifetime: Lifetime): readonly Sql[] {
  if (lifetime.ttlMs >= NEVER) return [];
  const due = sql`AND expires_at < ${Math.ceil(transaction.now + lifetime.renewBelowMs)}`;
  return [sql`${renewScope(transaction, owner, lifetime)} ${due}`];
}

function deleteScopeIfEmpty({ tables: { sharedScopes, sharedState } }: SqlTransaction, pk: number): Sql {
  return sql`
    DELETE FROM ${sharedScopes}
    WHERE pk = ${pk} AND NOT EXISTS (SELECT 1 FROM ${sharedState} WHERE scope_pk = ${pk})`;
}

/** Changes a shared scope, and returns what reads its state. */
export async function writeScope(
  transaction: SqlTransaction,
  { owner, lifetime, maxStateBytes, ...writes }: WriteStateRequest,
): Promise<() => StateEntries> {
  const scopes = await LockedScopes.lock(transaction, changesNothing(writes) ? [] : [owner]);
  const excess = await scopes.excessOf(owner, writes, maxStateBytes);
  if (excess) throw writeExcessError(excess);
  if (!changesNothing(writes)) scopes.grow(owner, writes);
  const collected = new ScopeWriter(transaction, scopes);
  collected.add({ owner, lifetime, entries: toPlannedEntries(writes) });
  transaction.addToCommit(await collected.statements());
  const read = await readScopeAndCommit(transaction, owner, maxStateBytes, true);
  return () => read().entries;
}
