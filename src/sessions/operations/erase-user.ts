import { agendaPrefixOf } from '../domain/background/agenda-names.js';
import { componentPrefixOf, sessionOfComponents } from '../domain/stored/component.js';
import { type UserKey, assertId } from '../domain/values/ids.js';
import { checkedReason } from '../domain/values/reason.js';
import { withoutTransferError } from '../domain/errors/unsupported-error.js';
import { componentSessionsWith } from '../storage/component-sessions.js';
import type { ComponentStore } from '../storage/component-store.js';
import type { SessionStorage } from '../storage/session-storage.js';
import { Holds } from '../retention/holds.js';
import type { SessionEnvironment } from '../session-environment.js';
import { noteErasure } from '../erasures/erasure.js';
import { noteErasing } from '../erasures/running-erasures.js';
import { askHooks } from './hook-refusals.js';

const COMPONENTS_AT_ONCE = 500;

/** Whom to erase. */
export interface EraseUserRequest extends UserKey {
  /** With a reason, a note of the erasure is kept, which has no id: at most 500 UTF-8 bytes. `findErasure` of `/transfer` reads it. */
  readonly reason?: string | undefined;
}

/** What was erased. */
export interface ErasedUser {
  /** The number of sessions. */
  readonly sessions: number;
}

interface EraseOptions {
  /** Other stores that have component state of the user's sessions. */
  readonly components?: readonly ComponentStore[] | undefined;
  /** Runs before anything is removed. */
  readonly before?: ((user: UserKey) => Promise<void>) | undefined;
}

/** Removes all that a store has of a user. A repeated call finishes what a failed one began. */
export async function eraseUser(
  {
    storage,
    holds = new Holds(storage),
  }: Pick<SessionEnvironment, 'storage'> & Partial<Pick<SessionEnvironment, 'holds'>>,
  { appName, userId, reason: given }: EraseUserRequest,
  { components: others = [], before }: EraseOptions = {},
): Promise<ErasedUser> {
  const { transfer, components, agenda, consumers } = storage;
  assertId(appName, 'appName');
  assertId(userId, 'userId');
  const reason = given === undefined || given === null ? undefined : checkedReason(given);
  if (!transfer) throw withoutTransferError('erase users');
  const user = { appName, userId };
  const sessions = await whileNoted(storage, user, async (signal) => {
    await holds.assertFree(user);
    await before?.(user);
    for (const store of new Set([...(components ? [components] : []), ...others])) {
      signal.throwIfAborted();
      await eraseComponents(store, user);
    }
    signal.throwIfAborted();
    return transfer.eraseUser(user);
  });
  // An append may have written some meanwhile.
  if (components) await removeComponents(components, user, (session) => isGone(storage, session));
  // Sessions that are gone get no more entries.
  await agenda.removeAll(agendaPrefixOf(user));
  await consumers.removeWorkOn(user);
  if (reason !== undefined) await noteErasure(storage, user, { sessions, reason });
  return { sessions };
}

/** Who holds a session of the user meanwhile, learns of the erasure. */
async function whileNoted<Result>(
  storage: SessionStorage,
  user: UserKey,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const note = await noteErasing(storage, user);
  try {
    return await work(note.signal);
  } finally {
    await note.end();
  }
}

/** Removes all that the store of a service has of a user, and what hooks know of. Consumers look again for what is due. */
export async function eraseServedUser(
  env: SessionEnvironment,
  request: EraseUserRequest,
  components?: readonly ComponentStore[],
): Promise<ErasedUser> {
  const before = (user: UserKey): Promise<void> => {
    const run = (): Promise<void> => env.hooks.runBeforeErase(user, env.storage.components);
    return askHooks(env, { registration: 'onBeforeErase', run });
  };
  const erased = await eraseUser(env, request, { components, before });
  env.changeBell.ring();
  return erased;
}

async function isGone(storage: SessionStorage, session: string): Promise<boolean> {
  const key = sessionOfComponents(session);
  return key !== undefined && !(await storage.read({ key }));
}

/** Removes the component state of the user's sessions. */
export async function eraseComponents(components: ComponentStore, user: UserKey): Promise<void> {
  // What has expired is not listed.
  while ((await components.purgeExpired(COMPONENTS_AT_ONCE)) === COMPONENTS_AT_ONCE);
  await removeComponents(components, user, () => true);
}

async function removeComponents(
  components: ComponentStore,
  user: UserKey,
  isMeant: (session: string) => Promise<boolean> | boolean,
): Promise<void> {
  for await (const session of componentSessionsWith(componentPrefixOf(user), components)) {
    if (await isMeant(session)) await components.remove(session);
  }
}
