import type {
  ComponentHead,
  ComponentPlace,
  ComponentWrite,
  ComponentWriteOutcome,
  StoredComponent,
} from '../../../domain/component.js';
import type { ComponentExpiry, ComponentSessionsRequest, ComponentStore } from '../../component-store.js';
import { sql } from '../sql/sql.js';
import type { TransactionOptions, Transactions } from '../sql/transaction.js';
import { readComponent, readExpiry, readHead, readPlaces } from './component-rows.js';
import { purgeComponents } from './purge-components.js';
import { removeComponents, renewComponents, writeComponent } from './write-component.js';

/** All but lists look up a session before they compare times. */
const BEGIN_LAZILY: TransactionOptions = { beginsLazily: true };

/** The state of components in tables. A save is one transaction. */
export class SqlComponents implements ComponentStore {
  /** @param transactions of the database */
  constructor(private readonly transactions: Pick<Transactions, 'read' | 'write'>) {}

  head(place: ComponentPlace): Promise<ComponentHead | undefined> {
    return this.transactions.read((transaction) => readHead(transaction, place), BEGIN_LAZILY);
  }

  read(place: ComponentPlace): Promise<StoredComponent | undefined> {
    return this.transactions.read((transaction) => readComponent(transaction, place), BEGIN_LAZILY);
  }

  write(write: ComponentWrite): Promise<ComponentWriteOutcome> {
    return this.transactions.write((transaction) => writeComponent(transaction, write), BEGIN_LAZILY);
  }

  expiry(session: string): Promise<ComponentExpiry> {
    return this.transactions.read((transaction) => readExpiry(transaction, session));
  }

  renew(session: string, ttlMs: number): Promise<void> {
    return this.transactions.write((transaction) => renewComponents(transaction, session, ttlMs), BEGIN_LAZILY);
  }

  remove(session: string, name?: string): Promise<void> {
    return this.transactions.write((transaction) => removeComponents(transaction, session, name), BEGIN_LAZILY);
  }

  places(session: string): Promise<ComponentPlace[]> {
    return this.transactions.read((transaction) => readPlaces(transaction, session), BEGIN_LAZILY);
  }

  sessions({ after = '', limit }: ComponentSessionsRequest): Promise<string[]> {
    return this.transactions.read(async (transaction) => {
      const found = await transaction.rows<{ name: string }>(sql`
        SELECT s.name FROM ${transaction.tables.componentSessions} s
        WHERE s.name > ${after} AND s.expires_at > ${transaction.now} ORDER BY s.name LIMIT ${limit}`);
      return found.map(({ name }) => name);
    });
  }

  purgeExpired(limit: number): Promise<number> {
    return purgeComponents(this.transactions, limit);
  }

  /** The session store has the connections. */
  async close(): Promise<void> {}
}
