import { type ComponentWrite, type ComponentWriteOutcome, componentWriteOutcome } from '../../../domain/component.js';
import { expiresAt, isExpired, NEVER } from '../../../domain/expiry.js';
import { inBatches } from '../../../domain/batches.js';
import { type Sql, joinSql, sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { type HeadRow, KIND_NUMBERS, headOf } from './component-rows.js';

/** Limits the size of a statement. */
const ITEMS_PER_INSERT = { items: 500, weight: 500_000, weightOf: ({ length }: string) => length };

interface SessionRow {
  readonly pk: number;
  readonly expires_at: number;
}

/** Saves of a session wait for each other. */
export async function writeComponent(
  transaction: SqlTransaction,
  write: ComponentWrite,
): Promise<ComponentWriteOutcome> {
  const { tables } = transaction;
  const { session, name, kind } = write.place;
  const found = await lockSession(transaction, session);
  const live = found && !isExpired(found.expires_at, transaction.now) ? found : undefined;
  const [row] = live
    ? await transaction.rows<HeadRow>(sql`
        SELECT c.version, c.items, c.digest FROM ${tables.components} c
        WHERE c.session_pk = ${live.pk} AND c.name = ${name} AND c.kind = ${KIND_NUMBERS[kind]}`)
    : [];
  const head = row && headOf(row);
  const outcome = componentWriteOutcome(head, write);
  if (outcome.kind === 'conflict') return outcome;

  const expiry = write.ttlMs === undefined ? undefined : expiresAt(transaction.now, { ttlMs: write.ttlMs });
  if (found && !live) await transaction.change(sql`DELETE FROM ${tables.componentSessions} WHERE pk = ${found.pk}`);
  const pk = live?.pk ?? (await insertSession(transaction, session, expiry ?? NEVER));
  // Another writer made it in between.
  if (pk === 0) return writeComponent(transaction, write);
  const statements = [
    ...(live && expiry !== undefined ? [renewal(transaction, pk, expiry)] : []),
    ...contentOf(transaction, pk, write, outcome.version, (head?.length ?? 0) > 0),
  ];
  const last = statements.pop();
  // A message has a maximum size, so only a short rest is sent with COMMIT.
  if (kind === 'list' && write.texts.length > ITEMS_PER_INSERT.items) await transaction.changeAll(statements.splice(0));
  transaction.addToCommit([...statements, ...(last ? [last] : [])]);
  return outcome;
}

/** Foreign keys remove what belongs to the session. */
export async function removeComponents(transaction: SqlTransaction, session: string, name?: string): Promise<void> {
  const { componentSessions, components, componentItems } = transaction.tables;
  const found = await lockSession(transaction, session);
  if (!found) return;
  const isOfName = name === undefined ? undefined : sql`session_pk = ${found.pk} AND name = ${name}`;
  const wholeSession = sql`DELETE FROM ${componentSessions} WHERE pk = ${found.pk}`;
  transaction.addToCommit(
    isOfName && !isExpired(found.expires_at, transaction.now)
      ? [
          sql`DELETE FROM ${componentItems} WHERE ${isOfName}`,
          sql`DELETE FROM ${components} WHERE ${isOfName}`,
          sql`${wholeSession} AND NOT EXISTS (SELECT 1 FROM ${components} c WHERE c.session_pk = ${found.pk})`,
        ]
      : [wholeSession],
  );
}

async function lockSession(transaction: SqlTransaction, session: string): Promise<SessionRow | undefined> {
  const [found] = await transaction.lockedRows<SessionRow>(sql`
    SELECT s.pk, s.expires_at FROM ${transaction.tables.componentSessions} s
    WHERE s.name = ${session} ${transaction.dialect.lock('s')}`);
  return found;
}

/** Returns 0 if there is one. */
function insertSession(transaction: SqlTransaction, session: string, expiry: number): Promise<number> {
  const { dialect, tables } = transaction;
  const row = sql`${tables.componentSessions} (name, expires_at) VALUES (${session}, ${expiry})`;
  return transaction.insert(dialect.insertUnlessNamed(row), 'pk');
}

function renewal({ tables }: SqlTransaction, pk: number, expiry: number): Sql {
  return sql`UPDATE ${tables.componentSessions} SET expires_at = ${expiry} WHERE pk = ${pk}`;
}

function contentOf(
  { dialect, tables }: SqlTransaction,
  pk: number,
  { place: { name, kind }, keep, texts, digest }: ComponentWrite,
  version: number,
  hasItems: boolean,
): Sql[] {
  const content = kind === 'value' ? (texts[0] ?? '') : null;
  const head = sql`
    INSERT INTO ${tables.components} (session_pk, name, kind, version, items, digest, content)
    VALUES (${pk}, ${name}, ${KIND_NUMBERS[kind]}, ${version}, ${keep + texts.length}, ${digest}, ${content})
    ${dialect.onConflictSet(sql`session_pk, name, kind`, ['version', 'items', 'digest', 'content'])}`;
  if (kind === 'value') return [head];
  const numbered = texts.map((text, index) => sql`(${pk}, ${name}, ${keep + index + 1}, ${text})`);
  let taken = 0;
  const inserts = inBatches(texts, ITEMS_PER_INSERT).map(({ length }) => {
    const rows = numbered.slice(taken, (taken += length));
    return sql`INSERT INTO ${tables.componentItems} (session_pk, name, seq, content) VALUES ${joinSql(rows, ', ')}`;
  });
  const isReplaced = keep === 0 && hasItems;
  const removal = sql`DELETE FROM ${tables.componentItems} WHERE session_pk = ${pk} AND name = ${name}`;
  return [...(isReplaced ? [removal] : []), ...inserts, head];
}
