import { splitStateKey } from '../../state/scopes.js';
import { InvalidInputError, SessionNotFoundError } from '../../sessions/domain/errors/errors.js';
import { type StateOwner, scopeOfOwner } from '../../sessions/domain/values/ids.js';
import { countedSize } from '../../sessions/domain/stored/state-size.js';
import { environmentBehind } from '../../sessions/service-environment.js';
import { ownEntries } from '../../sessions/storage/state-entries.js';
import type { StateEntries } from '../../sessions/storage/session-storage.js';
import type { CommandContext } from '../command-context.js';
import { shown } from '../output.js';

/** Options of `state`. */
export interface StateOptions {
  readonly limit?: number | undefined;
  readonly remove?: readonly string[] | undefined;
}

const DEFAULT_LIMIT = 20;

/** Lists the keys of a state by size, also of one that is too large for reads; or removes keys. */
export async function state(
  context: CommandContext,
  { limit = DEFAULT_LIMIT, remove }: StateOptions,
  appName: string,
  userId?: string,
  sessionId?: string,
): Promise<void> {
  const { output } = context;
  const owner = { appName, userId };
  if (remove) await removeKeys(context, remove, owner, sessionId);
  const { atMost: total, entries } = countedSize(await readStateEntries(context, owner, sessionId));
  const largest = [...entries].toSorted(([, a], [, b]) => b - a).slice(0, limit);
  for (const [key, bytes] of largest)
    await output.result(shown(`${String(bytes).padStart(10)}  ${key}`), { key, bytes });
  output.note(`${total} bytes in ${entries.size} keys`);
}

/** Without limits: it has to work where the app refuses. */
async function readStateEntries(
  context: CommandContext,
  { appName, userId }: StateOwner,
  sessionId: string | undefined,
): Promise<StateEntries> {
  const storage = await context.storage();
  if (userId === undefined || sessionId === undefined) return storage.readState({ appName, userId });
  const read = await storage.read({ key: { appName, userId, sessionId }, withState: true });
  if (!read) throw new SessionNotFoundError(sessionId);
  return ownEntries(read.state?.session);
}

/** Keys of shared state may have their prefix. A session gets an event, so that its log says what happened. */
async function removeKeys(
  context: CommandContext,
  keys: readonly string[],
  owner: StateOwner,
  sessionId: string | undefined,
): Promise<void> {
  const { appName, userId } = owner;
  const service = await context.sessions();
  if (userId !== undefined && sessionId !== undefined) {
    const foreign = keys.find((key) => splitStateKey(key).scope !== 'session');
    if (foreign !== undefined) throw new InvalidInputError(`${foreign} is no key of the session`, '--remove');
    await assertKnown(context, keys, owner, sessionId);
    const actions = { stateRemovals: [...keys] };
    await service.appendEvent({ session: { appName, userId, id: sessionId }, event: { author: 'system', actions } });
    return;
  }
  const { storage, lifetimes } = environmentBehind(service);
  const scope = scopeOfOwner(owner);
  const removals = keys.map((key) => {
    const split = splitStateKey(key);
    return { scope, name: split.scope === scope ? split.name : key };
  });
  const names = removals.map(({ name }) => name);
  await assertKnown(context, names, owner, undefined);
  await storage.writeState({ owner, upserts: [], removals, lifetime: lifetimes[scope] });
}

/** A misspelled key would stay, as if it were removed. */
async function assertKnown(
  context: CommandContext,
  names: readonly string[],
  owner: StateOwner,
  sessionId: string | undefined,
): Promise<void> {
  const known = new Set((await readStateEntries(context, owner, sessionId)).map(([name]) => name));
  const missing = names.filter((name) => !known.has(name));
  if (missing.length > 0)
    throw new InvalidInputError(`there is no key ${missing.join(', ')}; nothing was removed`, '--remove');
}
