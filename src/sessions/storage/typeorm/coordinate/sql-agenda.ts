import { assertAgendaEntry, assertAgendaPut, assertDueLimit, dueTime } from '../../../domain/coordination-rules.js';
import type { Agenda, AgendaEntry } from '../../coordination.js';
import { sql } from '../sql/sql.js';
import type { Transactions } from '../sql/transaction.js';

interface AgendaRow {
  readonly name: string;
  readonly due_time: number;
}

/** Stores each agenda entry as a row. Each call is one statement. */
export class SqlAgenda implements Agenda {
  /** @param transactions of the database */
  constructor(private readonly transactions: Pick<Transactions, 'read' | 'write'>) {}

  async put(name: string, inMs: number): Promise<void> {
    assertAgendaPut(name, inMs);
    await this.transactions.write(async (transaction) => {
      const { dialect, now } = transaction;
      const { agenda } = transaction.tables;
      transaction.addToCommit([
        sql`INSERT INTO ${agenda} (name, due_time) VALUES (${name}, ${dueTime(now, inMs)}) ${dialect.onConflictKeepLater(agenda)}`,
      ]);
    });
  }

  async due(limit: number): Promise<AgendaEntry[]> {
    assertDueLimit(limit);
    return this.transactions.read(async (transaction) => {
      const rows = await transaction.rows<AgendaRow>(sql`
        SELECT a.name, a.due_time FROM ${transaction.tables.agenda} a
        WHERE a.due_time <= ${transaction.now} ORDER BY a.due_time, a.name LIMIT ${limit}`);
      return rows.map(({ name, due_time: dueAt }) => ({ name, dueAt }));
    });
  }

  async remove(entry: AgendaEntry): Promise<void> {
    assertAgendaEntry(entry);
    const { name, dueAt } = entry;
    await this.transactions.write(async (transaction) => {
      const { agenda } = transaction.tables;
      transaction.addToCommit([sql`DELETE FROM ${agenda} WHERE name = ${name} AND due_time = ${dueAt}`]);
    });
  }
}
