import Libsql from 'libsql';

/** A statement that a store sent to its driver. */
export interface SentStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Observes the statements that a store sends to its driver. It can throw to simulate failures. */
export interface DriverObserver {
  opened?(connection: Libsql.Database): void;
  beforeStatement?(statement: SentStatement): void;
  /** @param rows the number of returned or changed rows */
  afterStatement?(statement: SentStatement, rows: number): void;
}

/** The SQLite driver with an observer, for the option `driver`. */
export function observedDriver(observer: DriverObserver): unknown {
  // A function that is called with `new` may return another object.
  return function (path: string, options?: { timeout?: number }): Libsql.Database {
    const connection = observed(new Libsql(path, options), observer);
    observer.opened?.(connection);
    return connection;
  };
}

function observed(database: Libsql.Database, observer: DriverObserver): Libsql.Database {
  function observe<Result>(statement: SentStatement, run: () => Result, rowsOf: (result: Result) => number): Result {
    observer.beforeStatement?.(statement);
    const result = run();
    observer.afterStatement?.(statement, rowsOf(result));
    return result;
  }

  const prepare = database.prepare.bind(database) as (text: string) => Libsql.Statement;
  const exec = database.exec.bind(database);
  const prepareObserved = (text: string): Libsql.Statement => {
    const statement = prepare(text);
    const all = statement.all.bind(statement);
    const run = statement.run.bind(statement);
    return Object.assign(statement, {
      all: (...values: unknown[]) =>
        observe(
          { text, values },
          () => all(...values),
          (rows) => rows.length,
        ),
      run: (...values: unknown[]) =>
        observe(
          { text, values },
          () => run(...values),
          ({ changes }) => changes,
        ),
    });
  };
  return Object.assign(database, {
    prepare: prepareObserved as Libsql.Database['prepare'],
    exec(text: string) {
      observe(
        { text, values: [] },
        () => exec(text),
        () => 0,
      );
      return database;
    },
  });
}
