import { readFileSync } from 'node:fs';
import { ConfigurationError } from '../../config/configuration-error.js';
import {
  type DataKeyContext,
  ENCRYPTION,
  type EncryptionOptions,
  type KeyWrapper,
} from '../../config/encryption-settings.js';
import { type EncryptionKey, type TextPlace, encryptionKey, openText, sealText } from './sealed-text.js';

/** What wraps data keys, by the settings. */
export function keyWrapperOf({ keys, keyFile, wrapper }: EncryptionOptions): KeyWrapper {
  if (wrapper) return wrapper;
  return localKeys(keyFile === undefined ? (keys ?? '') : keysInFile(keyFile));
}

/**
 * Wraps data keys by keys that this process has.
 *
 * @param keys as `id:base64` of 32 bytes, separated by commas, the current one first
 */
function localKeys(keys: string): KeyWrapper {
  const all = keys.split(',').map(parseEncryptionKey);
  const [current] = all;
  const byId = new Map(all.map((key) => [key.id, key]));
  if (!current || byId.size < all.length) {
    throw new ConfigurationError(['Two keys of encryption have the same id; give each its own.']);
  }
  return {
    current: () => current.id,
    wrap: (dataKey, context) =>
      sealText(current, context, toDataKeyPlace(context), Buffer.from(dataKey).toString('base64')),
    unwrap: (wrapped, context) =>
      Buffer.from(
        openText((id) => byId.get(id), context, toDataKeyPlace(context), wrapped),
        'base64',
      ),
  };
}

function toDataKeyPlace({ keyId }: DataKeyContext): TextPlace {
  return { field: 'data key', id: keyId };
}

function parseEncryptionKey(text: string): EncryptionKey {
  const [id = '', base64 = ''] = text.trim().split(':');
  return encryptionKey(id, Buffer.from(base64, 'base64'));
}

/** Lines that begin with # say what the others are for. */
function keysInFile(path: string): string {
  const lines = readKeyFile(path).split('\n');
  const keys = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
  const joined = keys.join(',');
  if (ENCRYPTION.keys.kind.fits(joined)) return joined;
  throw new ConfigurationError([
    `The file of encryption.keyFile (${path}) has no keys; it must have one in each line, as id:base64 of 32 bytes, the current one first.`,
  ]);
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigurationError([
      `The file of encryption.keyFile (${path}) cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}.`,
    ]);
  }
}
