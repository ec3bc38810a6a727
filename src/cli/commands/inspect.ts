import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { once } from 'node:events';
import { InMemorySessionStorage } from '../../sessions/storage/in-memory/in-memory-session-storage.js';
import { loadPackage } from '../../config/load-package.js';
import { InvalidInputError } from '../../sessions/domain/errors/errors.js';
import { SessionService } from '../../sessions/session.service.js';
import { importSessions } from '../../transfer/index.js';
import type { CommandContext } from '../command-context.js';
import { sessionsUnderHold } from '../policy-file.js';

/** Options of `inspect`. */
export interface InspectCommandOptions {
  readonly port?: number | undefined;
  /** Lets the page rewind, fork and delete. */
  readonly write?: boolean | undefined;
  /** A file with a hold: what the page may not delete. */
  readonly policy?: string | undefined;
}

const TOKEN_BYTES = 18;

/**
 * Shows the sessions of the store, or of an export, in a browser, until it is interrupted. Only programs of this machine reach the page, and of
 * those only who knows its address: a part of it is random.
 */
export async function inspect(context: CommandContext, options: InspectCommandOptions, file?: string): Promise<void> {
  const { output, signal } = context;
  if (options.policy !== undefined && (file !== undefined || !options.write)) {
    throw new InvalidInputError('has no effect without --write, or on an export', '--policy');
  }
  const sessions =
    file === undefined ? await sessionsUnderHold(context, options.policy) : await sessionsOfExport(context, file);
  const secret = randomBytes(TOKEN_BYTES).toString('base64url');
  const { startInspector } = await loadPackage(() => import('../inspector-app.js'), 'agent-sessions inspect');
  const { port = 0, write: writes = false } = options;
  const app = await startInspector(sessions, { secret, port, writes, audit: context.audit?.ofPage });
  try {
    const place = file ?? context.place;
    const text = [`showing ${place}${options.write ? '' : ', read only'}`, `open ${app.url}`, 'end with Ctrl-C'].join(
      '\n',
    );
    await output.result(text, { url: app.url, place });
    if (!signal.aborted) await once(signal, 'abort');
  } finally {
    await app.close();
    if (file !== undefined) await sessions.close();
  }
}

/** What is in the file, in memory. */
async function sessionsOfExport({ output, signal }: CommandContext, file: string): Promise<SessionService> {
  const storage = new InMemorySessionStorage();
  const onProgress = ({ line }: { readonly line: number }): void => output.progress(() => `read ${line} lines`);
  const result = await importSessions(storage, createReadStream(file), { signal, onProgress, onBad: 'skip' });
  const { missing, conflicting, expired } = result.sessions;
  const left = {
    'could not be read': result.bad,
    'are missing': missing,
    'have expired': expired,
    conflict: conflicting,
  };
  for (const [what, count] of Object.entries(left)) {
    if (count > 0) output.note(`${count} of ${file} ${what}: agent-sessions import --dry-run names them`);
  }
  return new SessionService({ storage, ttl: { enabled: false } });
}
