import { ConfigurationError } from '../../config/configuration-error.js';
import { EncryptedStorage } from '../../sessions/encryption/encrypted-storage.js';
import type { CommandContext } from '../command-context.js';

/** The store of a command, whose texts are encrypted. */
async function encryptedStore(context: CommandContext): Promise<EncryptedStorage> {
  const storage = await context.storage();
  if (storage instanceof EncryptedStorage) return storage;
  throw new ConfigurationError([
    'Nothing is encrypted: set SESSIONS_ENCRYPTION_KEYS or SESSIONS_ENCRYPTION_KEY_FILE, as the app has it.',
  ]);
}

/** Wraps all data keys by the current key, and renews them if that is asked for. */
export async function rotateKeys(
  context: CommandContext,
  { renew = false }: { readonly renew?: boolean | undefined },
): Promise<void> {
  const storage = await encryptedStore(context);
  const rotated = await storage.keys.rotate({ renews: renew });
  const { owners, rewrapped, renewed } = rotated;
  await context.output.result(`keys of ${owners} users and apps: ${rewrapped} wrapped again, ${renewed} new`, rotated);
}

/** Counts what is encrypted, and what is not. */
export async function countEncrypted(context: CommandContext): Promise<void> {
  const counts = await (await encryptedStore(context)).countTexts();
  await context.output.result(`${counts.sealed} texts are encrypted, ${counts.plain} are not`, counts);
}
