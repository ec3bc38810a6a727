import type { ComponentHead, ComponentPlace, StoredComponent } from '../../../domain/component.js';
import { isExpired } from '../../../domain/expiry.js';
import type { ComponentContents } from '../../component-store.js';
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

/** Head and items in one message, of one snapshot. */
export async function readComponent(
  transaction: SqlTransaction,
  { session, name, kind }: ComponentPlace,
  part?: 'head',
): Promise<StoredComponent | undefined> {
  const { tables } = transaction;
  const hasItems = kind === 'list' && part !== 'head';
  const content = part === 'head' ? sql`NULL` : sql`c.content`;
  const head = sql`
    SELECT s.expires_at, c.version, c.items, c.digest, ${content} AS content
    FROM ${tables.componentSessions} s JOIN ${tables.components} c ON c.session_pk = s.pk
    WHERE s.name = ${session} AND c.name = ${name} AND c.kind = ${KIND_NUMBERS[kind]}`;
  const items = sql`
    SELECT i.content
    FROM ${tables.componentSessions} s JOIN ${tables.componentItems} i ON i.session_pk = s.pk AND i.name = ${name}
    WHERE s.name = ${session} ORDER BY i.seq`;
  const [heads = [], rows = []] = await transaction.commitWith(hasItems ? [head, items] : [head]);
  const [found] = heads as FoundRow[];
  if (!found || isExpired(found.expires_at, transaction.now)) return undefined;
  const texts = (rows as { content: string }[]).map((row) => row.content);
  return { ...headOf(found), texts: found.content === null ? texts : [found.content] };
}

export async function readPlaces(transaction: SqlTransaction, session: string): Promise<ComponentContents> {
  const { tables } = transaction;
  const [rows = []] = await transaction.commitWith([
    sql`
      SELECT s.expires_at, c.name, c.kind
      FROM ${tables.componentSessions} s JOIN ${tables.components} c ON c.session_pk = s.pk
      WHERE s.name = ${session}`,
  ]);
  const { now } = transaction;
  const live = (rows as { expires_at: number; name: string; kind: number }[]).filter(
    ({ expires_at: expiry }) => !isExpired(expiry, now),
  );
  const places = live.map(({ name, kind }) => placeOf(session, name, kind));
  return { now, expiresAt: live[0]?.expires_at, places };
}

function placeOf(session: string, name: string, kind: number): ComponentPlace {
  return { session, name, kind: kind === KIND_NUMBERS.list ? 'list' : 'value' };
}
