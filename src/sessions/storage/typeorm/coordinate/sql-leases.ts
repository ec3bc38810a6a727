import { expiresAt, isExpired } from '../../../domain/expiry.js';
import type { Lease, LeaseRequest, LeaseStore } from '../../coordination.js';
import { type Sql, sql } from '../sql/sql.js';
import type { SqlTransaction, Transactions } from '../sql/transaction.js';

interface LeaseRow {
  readonly token: number;
  readonly expires_at: number;
}

/** Stores each held lease as a row. Its token is the generated key, which never repeats. */
export class SqlLeases implements LeaseStore {
  /** @param write runs work in a write transaction */
  constructor(private readonly write: Transactions['write']) {}

  /**
   * Takes no lock while another process holds the lease. If several processes find it free, one inserts it. The others
   * wait for its commit and insert nothing.
   */
  acquire({ name, holder, ttlMs }: LeaseRequest): Promise<Lease | undefined> {
    return this.write(async (transaction) => {
      const { dialect, tables, now } = transaction;
      const [held] = await transaction.rows<LeaseRow>(
        sql`SELECT token, expires_at FROM ${tables.leases} WHERE name = ${name}`,
      );
      if (held && !isExpired(held.expires_at, now)) return undefined;
      if (held) {
        // The holder may have renewed it in the meantime.
        await transaction.change(
          sql`DELETE FROM ${tables.leases} WHERE token = ${held.token} AND expires_at <= ${now}`,
        );
      }
      const expiry = expiresAt(now, { ttlMs });
      const token = await transaction.insert(
        dialect.insertUnlessNamed(
          sql`${tables.leases} (name, holder, expires_at) VALUES (${name}, ${holder}, ${expiry})`,
        ),
        'token',
      );
      return token === 0 ? undefined : { name, holder, token, expiresAt: expiry };
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
