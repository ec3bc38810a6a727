import { expiresAt, isExpired } from '../../../domain/expiry.js';
import type { AnyLeaseRequest, Lease, LeaseRequest, LeaseStore } from '../../coordination.js';
import { type Sql, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction, Transactions } from '../sql/transaction.js';

interface LeaseRow {
  readonly name: string;
  readonly token: number;
  readonly expires_at: number;
}

/** Stores each held lease as a row. Its token is the generated key, which never repeats. */
export class SqlLeases implements LeaseStore {
  /** @param write runs work in a write transaction */
  constructor(private readonly write: Transactions['write']) {}

  acquire({ name, holder, ttlMs }: LeaseRequest): Promise<Lease | undefined> {
    return this.acquireAny({ names: [name], holder, ttlMs });
  }

  /**
   * Takes no lock while other processes hold all of the leases. If several processes find one free, one inserts it. The others
   * wait for its commit, insert nothing, and go on with the next one.
   */
  acquireAny({ names, atMost = names.length, holder, ttlMs }: AnyLeaseRequest): Promise<Lease | undefined> {
    return this.write(async (transaction) => {
      const { dialect, tables, now } = transaction;
      const rows = await transaction.rows<LeaseRow>(
        sql`SELECT name, token, expires_at FROM ${tables.leases} WHERE name IN (${sqlList(names)})`,
      );
      const stored = new Map(rows.map((row) => [row.name, row]));
      let held = rows.filter((row) => !isExpired(row.expires_at, now)).length;
      const expiry = expiresAt(now, { ttlMs });
      for (const name of names) {
        if (held >= atMost) return undefined;
        const row = stored.get(name);
        if (row && !isExpired(row.expires_at, now)) continue;
        if (row) {
          // The holder may have renewed it in the meantime.
          await transaction.change(
            sql`DELETE FROM ${tables.leases} WHERE token = ${row.token} AND expires_at <= ${now}`,
          );
        }
        const token = await transaction.insert(
          dialect.insertUnlessNamed(
            sql`${tables.leases} (name, holder, expires_at) VALUES (${name}, ${holder}, ${expiry})`,
          ),
          'token',
        );
        if (token !== 0) return { name, holder, token, expiresAt: expiry };
        // Somebody else was faster.
        held += 1;
      }
      return undefined;
    });
  }

  renew(lease: Lease, ttlMs: number): Promise<Lease | undefined> {
    return this.write(async (transaction) => {
      const expiry = expiresAt(transaction.now, { ttlMs });
      const renewed = await transaction.change(
        sql`UPDATE ${transaction.tables.leases} SET expires_at = ${expiry} WHERE ${isCurrent(lease, transaction)}`,
      );
      return renewed === 0 ? undefined : { ...lease, expiresAt: expiry };
    });
  }

  async release(lease: Lease): Promise<void> {
    await this.write(async (transaction) => {
      const { tables } = transaction;
      transaction.addToCommit([sql`DELETE FROM ${tables.leases} WHERE ${isCurrent(lease, transaction)}`]);
    });
  }
}

function isCurrent({ name, token }: Lease, { now }: SqlTransaction): Sql {
  return sql`token = ${token} AND name = ${name} AND expires_at > ${now}`;
}
