import { agendaPrefixOf } from '../domain/agenda-names.js';
import { type UserKey, assertId } from '../domain/ids.js';
import { TransferUnsupportedError } from '../domain/transfer-errors.js';
import type { SessionStorage } from '../storage/session-storage.js';

/** What was erased. */
export interface ErasedUser {
  /** The number of sessions. */
  readonly sessions: number;
}

/** Removes all that a store has of a user. A repeated call finishes what a failed one began. */
export async function eraseUser({ transfer }: SessionStorage, { appName, userId }: UserKey): Promise<ErasedUser> {
  assertId(appName, 'appName');
  assertId(userId, 'userId');
  if (!transfer) throw new TransferUnsupportedError('erase users');
  const user = { appName, userId };
  return { sessions: await transfer.eraseUser({ ...user, agendaPrefix: agendaPrefixOf(user) }) };
}
