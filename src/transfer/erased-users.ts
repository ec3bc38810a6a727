import type { UserKey } from '../sessions/domain/values/ids.js';
import { type Erasure, findErasure as findNote } from '../sessions/erasures/erasure.js';
import { type UserRemains, findUser as findRemains } from '../sessions/erasures/user-remains.js';
import { type StorageSource, storageOf } from '../sessions/storage-source.js';

/**
 * Says when and why a user was erased; `undefined` if `eraseUser` was never called with a reason.
 *
 * @example const { at, reason } = (await findErasure(sessions, { appName: 'shop', userId: 'ann' })) ?? {};
 */
export async function findErasure(source: StorageSource, user: UserKey): Promise<Erasure | undefined> {
  return findNote(storageOf(source), user);
}

/**
 * Looks in all places of a store for what it has of a user. After `eraseUser`, each is 0, unless somebody wrote since.
 *
 * @example const left = await findUser(sessions, { appName: 'shop', userId: 'ann' }); // { sessions: 0, state: 0, … }
 */
export async function findUser(source: StorageSource, user: UserKey): Promise<UserRemains> {
  return findRemains(storageOf(source), user);
}
