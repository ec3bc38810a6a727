import { InvalidInputError } from '../../sessions/domain/errors/errors.js';
import { eraseUser as erase, findErasure, findUser } from '../../transfer/index.js';
import type { CommandContext } from '../command-context.js';
import { componentsOf } from '../component-folder.js';
import { EXIT } from '../failures.js';
import { shown } from '../output.js';
import { sessionsUnderHold } from '../policy-file.js';

/** Options of `erase-user`. */
export interface EraseCommandOptions {
  readonly yes?: string | undefined;
  readonly reason?: string | undefined;
  /** A folder of JSON files with component state. */
  readonly components?: string | undefined;
  /** A file with a hold, which the app has as its option `retention`. */
  readonly policy?: string | undefined;
}

/** Removes all of a user. The user has to be named twice, since it cannot be undone. */
export async function eraseUser(
  context: CommandContext,
  { yes, components, reason, policy }: EraseCommandOptions,
  appName: string,
  userId: string,
): Promise<void> {
  if (yes !== userId) {
    throw new InvalidInputError(`cannot be undone: repeat the user id, --yes ${JSON.stringify(userId)}`, '--yes');
  }
  const sessions = await sessionsUnderHold(context, policy);
  const stores = await componentsOf(await context.storage(), components);
  const erased = await erase(sessions, { appName, userId, reason }, { components: stores });
  await context.output.result(`erased ${erased.sessions} sessions of ${shown(userId)}`, { appName, userId, ...erased });
}

/** Says whether the store has anything of a user, and the note of the erasure. */
export async function proveErased(
  context: CommandContext,
  _options: object,
  appName: string,
  userId: string,
): Promise<number | void> {
  const storage = await context.storage();
  const user = { appName, userId };
  const [note, left] = [await findErasure(storage, user), await findUser(storage, user)];
  const found = Object.entries(left).filter(([, count]) => count > 0);
  const said = note
    ? `erased ${new Date(note.at).toISOString()}, ${note.sessions} sessions: ${shown(note.reason)}`
    : 'no note of an erasure';
  const remains =
    found.length === 0
      ? 'the store has nothing of the user'
      : found.map(([what, count]) => `${what} ${count}`).join(', ');
  await context.output.result(`${said}; ${remains}`, { ...user, erasure: note ?? null, left });
  return found.length === 0 ? undefined : EXIT.wrong;
}
