import type { ComponentHead, ComponentPlace, StoredComponent } from '../../../domain/component.js';
import { isExpired } from '../../../domain/expiry.js';
import type { ComponentExpiry } from '../../component-store.js';
import { sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';

/** How the kinds are stored. */
export const KIND_NUMBERS = { value: 0, list: 1 } as const;

export interface HeadRow {
  readonly version: number;
  readonly items: number;
  readonly digest: string;
}

interface FoundRow extends HeadRow {
  readonly expires_at: number;
  readonly content: string | null;
}

export function headOf({ version, items, digest }: HeadRow): ComponentHead {
  return { version, length: items, digest };
}

export async function readHead(transaction: SqlTransaction, place: ComponentPlace): Promise<ComponentHead | undefined> {
  const { tables } = transaction;
  const [rows = []] = await transaction.commitWith([
    sql`
      SELECT s.expires_at, c.version, c.items, c.digest
      FROM ${tables.componentSessions} s JOIN ${tables.components} c ON c.session_pk = s.pk
      WHERE s.name = ${place.session} AND c.name = ${place.name} AND c.kind = ${KIND_NUMBERS[place.kind]}`,
  ]);
  const [found] = rows as FoundRow[];
  return found && !isExpired(found.expires_at, transaction.now) ? headOf(found) : undefined;
}

/** Head and items in one message, of one snapshot. */
export async function readComponent(
  transaction: SqlTransaction,
  { session, name, kind }: ComponentPlace,
): Promise<StoredComponent | undefined> {
  const { tables } = transaction;
  const head = sql`
    SELECT s.expires_at, c.version, c.items, c.digest, c.content
    FROM ${tables.componentSessions} s JOIN ${tables.components} c ON c.session_pk = s.pk
    WHERE s.name = ${session} AND c.name = ${name} AND c.kind = ${KIND_NUMBERS[kind]}`;
  const items = sql`
    SELECT i.content
    FROM ${tables.componentSessions} s JOIN ${tables.componentItems} i ON i.session_pk = s.pk AND i.name = ${name}
    WHERE s.name = ${session} ORDER BY i.seq`;
  const [heads = [], rows = []] = await transaction.commitWith(kind === 'list' ? [head, items] : [head]);
  const [found] = heads as FoundRow[];
  if (!found || isExpired(found.expires_at, transaction.now)) return undefined;
  const texts = kind === 'list' ? (rows as { content: string }[]).map(({ content }) => content) : [found.content ?? ''];
  return { ...headOf(found), texts };
}

export async function readExpiry(transaction: SqlTransaction, session: string): Promise<ComponentExpiry> {
  const { tables } = transaction;
  const [found] = await transaction.rows<{ expires_at: number }>(sql`
    SELECT s.expires_at FROM ${tables.componentSessions} s
    WHERE s.name = ${session} AND s.expires_at > ${transaction.now}`);
  return { now: transaction.now, expiresAt: found?.expires_at };
}

export async function readPlaces(transaction: SqlTransaction, session: string): Promise<ComponentPlace[]> {
  const { tables } = transaction;
  const [rows = []] = await transaction.commitWith([
    sql`
      SELECT s.expires_at, c.name, c.kind
      FROM ${tables.componentSessions} s JOIN ${tables.components} c ON c.session_pk = s.pk
      WHERE s.name = ${session}`,
  ]);
  const { now } = transaction;
  return (rows as { expires_at: number; name: string; kind: number }[]).flatMap(({ expires_at: expiry, name, kind }) =>
    isExpired(expiry, now) ? [] : [{ session, name, kind: kind === KIND_NUMBERS.list ? 'list' : 'value' }],
  );
}
