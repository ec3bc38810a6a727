import type { EncryptionOptions } from '../../src/config/encryption-settings.js';
import type { Clock } from '../../src/sessions/domain/process/clock.js';
import { type EncryptedStorage, encryptedStorage } from '../../src/sessions/encryption/encrypted-storage.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import type { TestStore } from '../support/stores.js';

/** Two keys of this length, which nobody uses elsewhere. */
export const KEY_A = `a:${Buffer.alloc(32, 'key a').toString('base64')}`;
export const KEY_B = `b:${Buffer.alloc(32, 'key b').toString('base64')}`;

/** A store whose texts are encrypted. */
export interface OpenEncrypted extends OpenStorage {
  readonly storage: EncryptedStorage;
  /** The same store as it is. */
  readonly plain: OpenStorage['storage'];
}

/** Opens a store whose texts are encrypted, and its raw data. */
export async function openEncrypted(
  open: TestStore['open'],
  { clock, ...options }: EncryptionOptions & { clock?: Clock | undefined } = {},
): Promise<OpenEncrypted> {
  const { storage, raw, destroy } = await open({ clock });
  const keys = options.wrapper || options.keys ? {} : { keys: KEY_A };
  return { storage: encryptedStorage(storage, { ...keys, ...options }, clock), plain: storage, raw, destroy };
}

/** The same for contracts, which compare raw data: the keys of their users are there already. */
export async function openWithKeys(
  open: TestStore['open'],
  options: { clock?: Clock | undefined },
): Promise<OpenEncrypted> {
  const opened = await openEncrypted(open, options);
  const users = ['ann', 'bob'].map((userId) => ({ appName: 'shop', userId }));
  for (const owner of [{ appName: 'shop' }, ...users]) await opened.storage.keys.ensured(owner);
  return opened;
}
