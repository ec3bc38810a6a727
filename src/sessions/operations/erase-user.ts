import { agendaPrefixOf } from '../domain/agenda-names.js';
import { componentPrefixOf } from '../domain/component.js';
import { type UserKey, assertId } from '../domain/ids.js';
import { withoutTransferError } from '../domain/unsupported-error.js';
import type { ComponentStore } from '../storage/component-store.js';
import type { SessionEnvironment } from '../session-environment.js';

const COMPONENTS_AT_ONCE = 500;

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
  { storage: { transfer, components, agenda, consumers } }: Pick<SessionEnvironment, 'storage'>,
  { appName, userId }: UserKey,
  { components: others = [], before }: EraseOptions = {},
): Promise<ErasedUser> {
  assertId(appName, 'appName');
  assertId(userId, 'userId');
  if (!transfer) throw withoutTransferError('erase users');
  const user = { appName, userId };
  await before?.(user);
  for (const store of new Set([...(components ? [components] : []), ...others])) await eraseComponents(store, user);
  const sessions = await transfer.eraseUser(user);
  // Sessions that are gone get no more entries.
  await agenda.removeAll(agendaPrefixOf(user));
  await consumers.removeWorkOn(user);
  return { sessions };
}

/** Removes all that the store of a service has of a user, and what hooks know of. Consumers look again for what is due. */
export async function eraseServedUser(env: SessionEnvironment, request: UserKey): Promise<ErasedUser> {
  const before = (user: UserKey): Promise<void> => env.hooks.runBeforeErase(user, env.storage.components);
  const erased = await eraseUser(env, request, { before });
  env.changeBell.ring();
  return erased;
}

/** Removes the component state of the user's sessions. */
export async function eraseComponents(components: ComponentStore, user: UserKey): Promise<void> {
  // What has expired is not listed.
  while ((await components.purgeExpired(COMPONENTS_AT_ONCE)) === COMPONENTS_AT_ONCE);
  const prefix = componentPrefixOf(user);
  for (let after = prefix; ;) {
    const found = await components.sessions({ after, limit: COMPONENTS_AT_ONCE });
    const own = found.filter((session) => session.startsWith(prefix));
    for (const session of own) await components.remove(session);
    after = found.at(-1) ?? after;
    if (own.length < COMPONENTS_AT_ONCE) return;
  }
}
