import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, stat } from 'node:fs/promises';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { JsonFileComponentStore } from '../../components/json-files/json-file-component-store.js';
import {
  type ImportProgress,
  type ImportResult,
  type TransferFilter,
  exportSessions,
  importSessions,
  verifySessions,
} from '../../transfer/index.js';
import type { CommandContext } from '../command-context.js';
import { componentsOf } from '../component-folder.js';
import { EXIT } from '../failures.js';
import { bar, shown } from '../output.js';

/** Options that narrow a transfer. */
interface FilterOptions {
  readonly app?: string | undefined;
  readonly user?: string | undefined;
  readonly session?: string | undefined;
}

/** Options of `export` and `import`. */
interface TransferOptions extends FilterOptions {
  /** A folder of JSON files with component state. */
  readonly components?: string | undefined;
}

/** Options of `export`. */
export interface ExportCommandOptions extends TransferOptions {
  readonly output?: string | undefined;
}

/** Options of `import`. */
export interface ImportCommandOptions extends FilterOptions {
  /** A folder of JSON files for component state; `false` leaves it out. */
  readonly components?: string | false | undefined;
  /** `false` leaves out state and usage of users and apps. */
  readonly shared?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
  readonly skipConflicts?: boolean | undefined;
  readonly replace?: boolean | undefined;
  readonly skipBad?: boolean | undefined;
  readonly verify?: boolean | undefined;
  readonly cursor?: number | undefined;
}

function filterOf({ app, user, session }: FilterOptions): TransferFilter {
  return { appName: app, userId: user, sessionId: session };
}

/** Writes sessions as lines of JSON to a file or to stdout. */
export async function exportTo(context: CommandContext, options: ExportCommandOptions): Promise<number> {
  const { output, signal } = context;
  const storage = await context.storage();
  let [count, missing] = [0, 0];
  const lines = exportSessions(storage, {
    filter: filterOf(options),
    components: await componentsOf(storage, options.components),
    onSkipped: ({ reason, problem, ...key }) => {
      if (reason !== 'deleted') missing++;
      output.note(`left out ${JSON.stringify(key)}: ${problem}`);
    },
  });
  const counted = async function* (): AsyncGenerator<string> {
    for await (const line of lines) {
      signal.throwIfAborted();
      count++;
      output.progress(() => `exported ${count} lines`);
      yield line;
    }
  };
  const { output: file = '-' } = options;
  if (file === '-') for await (const line of counted()) await output.raw(line);
  else await pipeline(Readable.from(counted()), await openForOwner(file), { signal });
  if (!output.isJson) output.note(`exported ${count} lines`);
  return missing > 0 ? EXIT.wrong : EXIT.done;
}

/** An export has all that users said. */
const OWNER_ONLY = 0o600;

/** A file that is there already has a mode of its own. */
async function openForOwner(path: string): Promise<Writable> {
  const stream = createWriteStream(path, { mode: OWNER_ONLY });
  await once(stream, 'open');
  if ((await stat(path)).isFile()) await chmod(path, OWNER_ONLY);
  return stream;
}

/** Imports an export, or compares it with the store. */
export async function importFrom(
  context: CommandContext,
  options: ImportCommandOptions,
  file: string,
): Promise<number> {
  const { output, settings, signal } = context;
  const filter = filterOf(options);
  const storage = await context.storage();
  const total = file === '-' ? 0 : (await stat(file)).size;
  const input = new CountedInput(file === '-' ? context.stdin : createReadStream(file));
  const progress = (text: string): void =>
    output.progress(() => `${total > 0 ? `${bar(input.bytes / total)} ` : ''}${text}`);
  const { components: folder, shared } = options;
  const components = typeof folder === 'string' ? new JsonFileComponentStore({ root: folder }) : folder;
  if (options.verify) {
    const result = await verifySessions(storage, input.chunks(), { filter, components, shared });
    const lines = result.differences.map((difference) => JSON.stringify(difference));
    await output.result(result.isEqual ? 'the store has all of the file' : lines.map(shown).join('\n'), result);
    return result.isEqual ? EXIT.done : EXIT.wrong;
  }
  const result = await importSessions(storage, input.chunks(), {
    filter,
    dryRun: options.dryRun,
    components,
    shared,
    onConflict: options.replace ? 'replace' : options.skipConflicts ? 'skip' : 'fail',
    onBad: options.skipBad ? 'skip' : 'fail',
    cursor: options.cursor,
    limits: settings.limits,
    signal,
    onProgress: ({ line, events }: ImportProgress) => progress(`line ${line}, ${events} events`),
  });
  const { conflicts, omissions, excesses, problems } = result;
  for (const left of [...conflicts, ...omissions, ...problems]) output.note(`left out ${JSON.stringify(left)}`);
  for (const large of excesses) output.note(`larger than its limit: ${JSON.stringify(large)}`);
  await output.result(formatImportSummary(result, options.dryRun ? 'would import' : 'imported'), result);
  const { sessions, components: state, bad } = result;
  return sessions.conflicting + sessions.missing + state.conflicting + bad > 0 ? EXIT.wrong : EXIT.done;
}

function formatImportSummary(
  { sessions, components, events, omitted, oversized, bad }: ImportResult,
  what: string,
): string {
  const { created, continued, unchanged, conflicting, missing } = sessions;
  const parts = [
    `${what} ${created} new and ${continued} continued sessions, ${events} events, ${components.written} components`,
    `${unchanged + components.unchanged} unchanged, ${conflicting + components.conflicting} conflicting`,
    ...(omitted > 0 ? [`${omitted} states and usages left out`] : []),
    ...(oversized > 0 ? [`${oversized} states larger than their limits`] : []),
    ...(bad + missing > 0 ? [`${bad} bad, ${missing} missing in the file`] : []),
  ];
  return parts.join('; ');
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
