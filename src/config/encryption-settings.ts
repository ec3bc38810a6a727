import { type Setting, type SettingsOf, flag, isRecord, kindOf, oneOf, text, wholeNumber } from './setting.js';

/** Whose data key it is: that of a user, of an app, or, without ids, of what belongs to no app. */
export interface DataKeyContext {
  readonly appName?: string | undefined;
  readonly userId?: string | undefined;
  /** The id of the data key. */
  readonly keyId: string;
}

/**
 * Wraps data keys by a key that the store does not have. The built-in ones take theirs from variables or a file; a key management service
 * is one of your own.
 *
 * @example
 * const wrapper: KeyWrapper = {
 *   current: () => 'alias/sessions',
 *   wrap: (dataKey, context) => kms.encrypt('alias/sessions', dataKey, context),
 *   unwrap: (wrapped, context) => kms.decrypt(wrapped, context),
 * };
 */
export interface KeyWrapper {
  /** The id of the key that wraps new data keys. Data keys that another one has wrapped are wrapped again by a rotation. */
  current(): string;
  /** The data key of 32 bytes as text that only `unwrap` can read. Bind it to the context, so that nobody can exchange two of them. */
  wrap(dataKey: Uint8Array, context: DataKeyContext): Promise<string> | string;
  unwrap(wrapped: string, context: DataKeyContext): Promise<Uint8Array> | Uint8Array;
}

/** How texts are encrypted before they reach the store. One of `keys`, `keyFile` and `wrapper` is needed. */
export interface EncryptionOptions {
  /** Keys that wrap data keys, as `id:base64` of 32 bytes, separated by commas. The first one wraps new data keys. */
  readonly keys?: string | undefined;
  /** A file with the same, a key in each line. It is read at the start. */
  readonly keyFile?: string | undefined;
  /** Wraps data keys elsewhere, such as in a key management service. */
  readonly wrapper?: KeyWrapper | undefined;
  /** Whether texts that are not encrypted are read, of data that is older than the encryption. Default: `false`. */
  readonly allowPlain?: boolean | undefined;
  /** `sealed`: status, tags and labels are encrypted too, and nothing can be filtered by them. Default: `plain`. */
  readonly metadata?: 'plain' | 'sealed' | undefined;
  /** How long a process remembers data keys, also those of a user who was erased by another process. Default: 60. */
  readonly cacheSeconds?: number | undefined;
}

const KEYS = /^\s*[\w-]{1,32}:[\w+/-]{43}=?\s*(,\s*[\w-]{1,32}:[\w+/-]{43}=?\s*)*$/;
const LONGEST_CACHE_SECONDS = 3_600;

export const ENCRYPTION: SettingsOf<EncryptionOptions> = {
  keys: {
    kind: kindOf(
      'keys as id:base64 of 32 bytes, separated by commas, such as 2026-11:… of `openssl rand -base64 32`',
      (value) => typeof value === 'string' && KEYS.test(value),
    ),
    isSecret: true,
    meaning: 'keys that encrypt what sessions say, the current one first',
  },
  keyFile: { kind: text, meaning: 'a file with these keys instead, one in each line' },
  wrapper: {
    kind: kindOf(
      'an object with wrap(), unwrap() and current()',
      (value) => isRecord(value) && ['wrap', 'unwrap', 'current'].every((name) => typeof value[name] === 'function'),
    ),
  },
  allowPlain: {
    kind: flag,
    default: false,
    meaning: 'whether texts that were stored before the encryption are read',
  },
  metadata: {
    kind: oneOf('plain', 'sealed'),
    default: 'plain',
    meaning: 'whether status, tags and labels are encrypted too, which ends filters by them',
  },
  cacheSeconds: { kind: wholeNumber(1, LONGEST_CACHE_SECONDS), default: 60 },
};

const SOURCES = ['keys', 'keyFile', 'wrapper'] as const satisfies readonly (keyof EncryptionOptions)[];

/** What a group of settings cannot say of each by itself: there is one source of keys, and a store that takes opaque texts. */
export function problemsOfEncryption(
  { encryption, provider }: Readonly<Record<string, unknown>>,
  nameOf: (path: string) => string,
): readonly string[] {
  if (!isRecord(encryption)) return [];
  const given = SOURCES.filter((name) => encryption[name] !== undefined).map((name) => nameOf(`encryption.${name}`));
  const [first = '', second = ''] = SOURCES.map((name) => nameOf(`encryption.${name}`));
  return [
    ...(given.length === 0 ? [`encryption has no keys; set ${first} or ${second}.`] : []),
    ...(given.length > 1 ? [`${given.join(' and ')} are keys of the same data; leave one.`] : []),
    ...(provider === 'vertex'
      ? ['encryption is not possible with the provider vertex, which has to read what it stores; leave it out.']
      : []),
  ];
}

/** A setting with its default, for those who read it. */
export const DEFAULT_CACHE_SECONDS = Number((ENCRYPTION.cacheSeconds satisfies Setting).default);
