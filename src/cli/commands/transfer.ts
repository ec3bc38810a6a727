import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { InvalidInputError } from '../../sessions/domain/errors.js';
import {
  type ImportProgress,
  type TransferFilter,
  eraseUser as erase,
  exportSessions,
  importSessions,
  verifySessions,
} from '../../transfer/index.js';
import type { CommandContext } from '../command-context.js';
import { EXIT } from '../failures.js';
import { bar, shown } from '../output.js';

/** Options that narrow a transfer. */
export interface FilterOptions {
  readonly app?: string | undefined;
  readonly user?: string | undefined;
  readonly session?: string | undefined;
}

/** Options of `export`. */
export interface ExportCommandOptions extends FilterOptions {
  readonly output?: string | undefined;
}

/** Options of `import`. */
export interface ImportCommandOptions extends FilterOptions {
  readonly dryRun?: boolean | undefined;
  readonly skipConflicts?: boolean | undefined;
  readonly verify?: boolean | undefined;
  readonly cursor?: number | undefined;
}

function filterOf({ app, user, session }: FilterOptions): TransferFilter {
  return { appName: app, userId: user, sessionId: session };
}

/** Writes sessions as lines of JSON to a file or to stdout. */
export async function exportTo(context: CommandContext, options: ExportCommandOptions): Promise<void> {
  const { output, signal } = context;
  const lines = exportSessions(await context.storage(), { filter: filterOf(options) });
  let count = 0;
  const counted = async function* (): AsyncGenerator<string> {
    for await (const line of lines) {
      signal.throwIfAborted();
      count++;
      output.progress(() => `exported ${count} lines`);
      yield line;
    }
  };
  if (options.output === undefined) for await (const line of counted()) await output.raw(line);
  else await pipeline(Readable.from(counted()), createWriteStream(options.output, { mode: OWNER_ONLY }), { signal });
  if (!output.isJson) output.note(`exported ${count} lines`);
}

/** An export has all that users said. */
const OWNER_ONLY = 0o600;

/** Imports an export, or compares it with the store. */
export async function importFrom(
  context: CommandContext,
  options: ImportCommandOptions,
  file: string,
): Promise<number> {
  const { output, signal } = context;
  const filter = filterOf(options);
  const storage = await context.storage();
  const total = file === '-' ? 0 : (await stat(file)).size;
  const input = new CountedInput(file === '-' ? context.stdin : createReadStream(file));
  const progress = (text: string): void =>
    output.progress(() => `${total > 0 ? `${bar(input.bytes / total)} ` : ''}${text}`);
  if (options.verify) {
    const result = await verifySessions(storage, input.chunks(), { filter });
    const lines = result.differences.map((difference) => JSON.stringify(difference));
    await output.result(result.isEqual ? 'the store has all of the file' : lines.map(shown).join('\n'), result);
    return result.isEqual ? EXIT.done : EXIT.wrong;
  }
  const result = await importSessions(storage, input.chunks(), {
    filter,
    dryRun: options.dryRun,
    onConflict: options.skipConflicts ? 'skip' : 'fail',
    cursor: options.cursor,
    signal,
    onProgress: ({ line, events }: ImportProgress) => progress(`line ${line}, ${events} events`),
  });
  const { created, continued, unchanged, conflicting } = result.sessions;
  const what = options.dryRun ? 'would import' : 'imported';
  const text = `${what} ${created} new and ${continued} continued sessions, ${result.events} events; ${unchanged} unchanged, ${conflicting} conflicting`;
  await output.result(text, result);
  return EXIT.done;
}

/** Input that knows how much of it was read. */
class CountedInput {
  bytes = 0;

  constructor(private readonly stream: Readable) {}

  async *chunks(): AsyncGenerator<Buffer> {
    for await (const chunk of this.stream as AsyncIterable<Buffer | string>) {
      const buffer = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      this.bytes += buffer.length;
      yield buffer;
    }
  }
}

/** Removes all of a user. The user has to be named twice, since it cannot be undone. */
export async function eraseUser(
  context: CommandContext,
  { yes }: { readonly yes?: string | undefined },
  appName: string,
  userId: string,
): Promise<void> {
  if (yes !== userId) {
    throw new InvalidInputError(`cannot be undone: repeat the user id, --yes ${JSON.stringify(userId)}`, '--yes');
  }
  const erased = await erase(await context.storage(), { appName, userId });
  await context.output.result(`erased ${erased.sessions} sessions of ${shown(userId)}`, { appName, userId, ...erased });
}
