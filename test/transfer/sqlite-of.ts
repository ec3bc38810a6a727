import Libsql from 'libsql';
import type { ForeignDatabase } from '../../src/transfer/index.js';

/** A SQLite database of another system, in memory. */
export function sqliteOf(statements: string): ForeignDatabase & { close(): void } {
  const connection = new Libsql(':memory:');
  connection.exec(statements);
  return {
    dialect: 'sqlite',
    query: async (statement, parameters) => connection.prepare(statement).all(...parameters),
    close: () => void connection.close(),
  };
}
