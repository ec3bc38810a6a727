import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';

/** Runs what migrations there are to run on a connection of its own, on which somebody made sure to be alone. */
export async function onOneConnection(
  dataSource: DataSource,
  work: (runner: QueryRunner, migrate: () => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.connect();
    const executor = new MigrationExecutor(dataSource, runner);
    executor.transaction = 'none';
    await work(runner, () => executor.executePendingMigrations());
  } finally {
    await runner.release();
  }
}
