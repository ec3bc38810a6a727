import { ConfigurationError } from '../../config/configuration-error.js';
import { APP_MIGRATES, type CommandContext } from '../command-context.js';
import { EXIT } from '../failures.js';

/** Options of `migrate`. */
export interface MigrateOptions {
  readonly dryRun?: boolean | undefined;
  readonly status?: boolean | undefined;
}

/** Brings the tables of a database up to date, or says what there is to do. */
export async function migrate(context: CommandContext, { dryRun, status }: MigrateOptions): Promise<number> {
  const { output, place } = context;
  const before = await context.schema();
  if (!before) {
    await output.result(`${place}: needs no migrations`, { place, executed: [], pending: [] });
    return EXIT.done;
  }
  const { executed, pending, isOfApp } = before;
  if (status || dryRun) {
    const lines = [
      ...(status ? executed.map((name) => `done     ${name}`) : []),
      ...pending.map((name) => `${status ? 'pending ' : 'would run'} ${name}`),
      `${place}: ${executed.length} done, ${pending.length} pending`,
    ];
    await output.result(lines.join('\n'), { place, executed, pending });
    return status && pending.length > 0 ? EXIT.wrong : EXIT.done;
  }
  if (pending.length > 0 && isOfApp) throw new ConfigurationError([`${place}: ${APP_MIGRATES}`]);
  if (pending.length > 0) await context.openStore();
  const lines = [...pending.map((name) => `ran      ${name}`), `${place}: up to date`];
  await output.result(lines.join('\n'), { place, executed: [...executed, ...pending], pending: [], ran: pending });
  return EXIT.done;
}
