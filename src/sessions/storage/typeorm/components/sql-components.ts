import type {
  ComponentPlace,
  ComponentWrite,
  ComponentWriteOutcome,
  StoredComponent,
} from '../../../domain/component.js';
import type { ComponentContents, ComponentSessionsRequest, ComponentStore } from '../../component-store.js';
import { sql } from '../sql/sql.js';
import type { TransactionOptions, Transactions } from '../sql/transaction.js';
import { readComponent, readPlaces } from './component-rows.js';
import { purgeComponents } from './purge-components.js';
import { removeComponents, writeComponent } from './write-component.js';

/** All but lists look up a session before they compare times. */
const BEGIN_LAZILY: TransactionOptions = { beginsLazily: true };

/** The state of components in tables. A save is one transaction. */
export class SqlComponents implements ComponentStore {
  /** @param transactions of the database */
  constructor(private readonly transactions: Pick<Transactions, 'read' | 'write'>) {}

  read(place: ComponentPlace, part?: 'head'): Promise<StoredComponent | undefined> {
    return this.transactions.read((transaction) => readComponent(transaction, place, part), BEGIN_LAZILY);
  }

  write(write: ComponentWrite): Promise<ComponentWriteOutcome> {
    return this.transactions.write((transaction) => writeComponent(transaction, write), BEGIN_LAZILY);
  }

  remove(session: string, name?: string): Promise<void> {
    return this.transactions.write((transaction) => removeComponents(transaction, session, name), BEGIN_LAZILY);
  }

  places(session: string): Promise<ComponentContents> {
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
}
