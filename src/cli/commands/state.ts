import { splitStateKey } from '../../state/scopes.js';
import { InvalidInputError, SessionNotFoundError } from '../../sessions/domain/errors.js';
import { type StateOwner, scopeOfOwner } from '../../sessions/domain/ids.js';
import { countedSize } from '../../sessions/domain/state-size.js';
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
  if (remove) await removeKeys(context, remove, { appName, userId }, sessionId);
  const { atMost: total, entries } = countedSize(await entriesOf(context, { appName, userId }, sessionId));
  const largest = [...entries].toSorted(([, a], [, b]) => b - a).slice(0, limit);
  for (const [key, bytes] of largest)
    await output.result(shown(`${String(bytes).padStart(10)}  ${key}`), { key, bytes });
  output.note(`${total} bytes in ${entries.size} keys`);
}

/** Without limits: it has to work where the app refuses. */
async function entriesOf(
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
  { appName, userId }: StateOwner,
  sessionId: string | undefined,
): Promise<void> {
  const service = await context.sessions();
  if (userId !== undefined && sessionId !== undefined) {
    const foreign = keys.find((key) => splitStateKey(key).scope !== 'session');
    if (foreign !== undefined) throw new InvalidInputError(`${foreign} is no key of the session`, '--remove');
    const actions = { stateRemovals: [...keys] };
    await service.appendEvent({ session: { appName, userId, id: sessionId }, event: { author: 'system', actions } });
    return;
  }
  const { storage, lifetimes } = environmentBehind(service);
  const owner = { appName, userId };
  const scope = scopeOfOwner(owner);
  const removals = keys.map((key) => {
    const split = splitStateKey(key);
    return { scope, name: split.scope === scope ? split.name : key };
  });
  await storage.writeState({ owner, upserts: [], removals, lifetime: lifetimes[scope] });
}
