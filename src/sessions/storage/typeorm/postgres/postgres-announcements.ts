import { createHash } from 'node:crypto';
import type { AnnouncedLog, Announcements } from '../announcements.js';
import { type Sql, sql } from '../sql.js';
import type { Tables } from '../tables.js';

/**
 * Says by NOTIFY what happened: `pk:seq,pk:seq`, or a `pk` alone. What appends say comes after their commit, in the same
 * breath: within it, commits would wait for each other's disk, one after the other, since NOTIFY takes a lock for that.
 */
export class PostgresAnnouncements implements Announcements {
  constructor(private readonly channel: string) {}

  ofAppends(logs: readonly AnnouncedLog[]): Sql {
    const reached = new Map(logs.map(({ pk, lastSeq }) => [pk, lastSeq]));
    const payload = [...reached].map(([pk, lastSeq]) => `${pk}:${lastSeq}`).join(',');
    return sql`SELECT pg_notify(${this.channel}, ${payload})`;
  }

  ofDeletion({ sessions }: Tables, where: Sql): Sql {
    return sql`SELECT pg_notify(${this.channel}, pk::text) FROM ${sessions} WHERE ${where}`;
  }
}

/**
 * The channel of all who use these tables. Schemas may be named or found by a search path, so they make no difference: what
 * is said of tables of the same name elsewhere makes somebody look in vain, at worst.
 */
export function channelOf(sessionsTable: string): string {
  return `agent_sessions_${createHash('sha256').update(sessionsTable).digest('hex').slice(0, 16)}`;
}
