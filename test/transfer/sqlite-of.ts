import Libsql from 'libsql';
import type { ForeignDatabase } from '../../src/transfer/index.js';

/** A SQLite database of another system, in memory unless a file is given. */
export function sqliteOf(statements: string, file = ':memory:'): ForeignDatabase & { close(): void } {
  const connection = new Libsql(file);
  connection.exec(statements);
  return {
    dialect: 'sqlite',
    query: async (statement, parameters) => connection.prepare(statement).all(...parameters),
    close: () => void connection.close(),
  };
}
