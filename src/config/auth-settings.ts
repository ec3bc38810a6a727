import { isLoopback } from './loopback.js';
import {
  type Kind,
  type SettingsOf,
  type Variable,
  kindOf,
  listOf,
  matching,
  oneOf,
  secondsUpTo,
  text,
  toVariables,
} from './setting.js';

/** What a sign-in allows, unless a rule of the app says something else. */
export type AccessPreset = (typeof ACCESS_PRESETS)[number];

/** `client` and `readonly` are for one user; `service` and `support` see the sessions of all. */
export const ACCESS_PRESETS = ['client', 'service', 'readonly', 'support'] as const;

/** Tokens of an issuer: who signs them, for whom, and what their claims say. */
export interface JwtOptions {
  /** The address of the issuer's keys, or the keys. */
  readonly jwks?: string | URL | { readonly keys: readonly object[] } | undefined;
  /** Public keys as PEM, instead of `jwks`. */
  readonly publicKeys?: readonly string[] | undefined;
  /** The `iss` of the tokens. */
  readonly issuer: string;
  /** The `aud` of tokens for this app. Tokens for others are refused. */
  readonly audience: string | readonly string[];
  /** The algorithms that are accepted, all of them asymmetric. Default: those of RSA, ECDSA and EdDSA. */
  readonly algorithms?: readonly string[] | undefined;
  /** The claim with the id of the user. Default: `sub`. A dot leads into an object. */
  readonly user?: string | undefined;
  /** The claim with the apps that the token is for. Without this option it is for all. */
  readonly apps?: string | undefined;
  /** The claim with the roles of the user. Default: `roles`. */
  readonly roles?: string | undefined;
  /** The scope or role of services, which may do everything. Without it no token is one of a service. */
  readonly service?: string | undefined;
  /** The scope or role of those who read the sessions of all users, and write nothing. */
  readonly support?: string | undefined;
  /** The scope or role of users who only read. */
  readonly readonly?: string | undefined;
  /** How far the clocks of issuer and app may differ. Default: 5. */
  readonly clockToleranceSeconds?: number | undefined;
}

/** A key that was made by `npx agent-sessions api-key`. Only its hash is stored. */
export interface ApiKeyOptions {
  /** For the list of keys, and the id of the user unless `user` gives one. */
  readonly name: string;
  /** `sha256-`, and the hash of the key. */
  readonly hash: string;
  readonly preset: AccessPreset;
  /** For whom it is. `client` and `readonly` need one. */
  readonly user?: string | undefined;
  /** The apps that it is for. Default: all. */
  readonly apps?: readonly string[] | undefined;
  /** When it ends: a day, of which it is the end in UTC, or a time. Default: never. */
  readonly expires?: string | undefined;
}

/** The algorithms whose public key cannot sign. */
export const ASYMMETRIC_ALGORITHMS: readonly string[] =
  'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');

export const DEFAULT_CLOCK_TOLERANCE_SECONDS = 5;

const filled = matching(/\S/, 'text that is not empty');
const oneOrMore: Kind = {
  ...listOf(/\S/, 'a text, or several separated by commas'),
  fits: (value) => filled.fits(value) || (Array.isArray(value) && value.length > 0 && value.every(filled.fits)),
};
const algorithms: Kind = {
  ...listOf(/./, `a list of ${ASYMMETRIC_ALGORITHMS.join(', ')}`),
  fits: (value) =>
    Array.isArray(value) && value.length > 0 && value.every((name) => ASYMMETRIC_ALGORITHMS.includes(name)),
};
const keyAddress = kindOf(
  'an https address of a key set, http only on this machine, or the key set itself',
  isKeySource,
);
const publicKeys: Kind = {
  allowed: 'a list of public keys as PEM (-----BEGIN PUBLIC KEY-----)',
  fits: (value) => Array.isArray(value) && value.length > 0 && value.every(isPublicPem),
  read: readPems,
};

/** The settings of tokens. */
export const JWT_SETTINGS: SettingsOf<JwtOptions> = {
  jwks: {
    kind: keyAddress,
    name: 'AUTH_JWT_JWKS_URL',
    meaning: 'the address of the keys of the issuer of tokens',
    variable: { kind: { ...keyAddress, allowed: 'an https address, http only on this machine' } },
  },
  publicKeys: {
    kind: publicKeys,
    // Somebody may have written a private one.
    isSecret: true,
    meaning: 'public keys as PEM, one after the other, instead of an address; `\\n` may stand for the end of a line',
  },
  issuer: { kind: filled, meaning: 'the `iss` of the tokens' },
  audience: { kind: oneOrMore, meaning: 'the `aud` of tokens for this app' },
  algorithms: { kind: algorithms, meaning: 'the algorithms that are accepted', otherwise: 'all of these' },
  user: { kind: filled, meaning: 'the claim with the id of the user', otherwise: 'sub' },
  apps: { kind: filled, meaning: 'the claim with the apps that a token is for', otherwise: 'all apps' },
  roles: { kind: filled, meaning: 'the claim with the roles of the user', otherwise: 'roles' },
  service: { kind: filled, meaning: 'the scope or role of services, which may do everything', otherwise: 'no role is' },
  support: {
    kind: filled,
    meaning: 'the scope or role of those who read the sessions of all users',
    otherwise: 'no role is',
  },
  readonly: { kind: filled, meaning: 'the scope or role of users who only read', otherwise: 'no role is' },
  clockToleranceSeconds: { kind: secondsUpTo(300, { canBeZero: true }) },
};

/** The settings of one API key. */
export const API_KEY_SETTINGS: SettingsOf<ApiKeyOptions> = {
  name: { kind: filled },
  hash: {
    kind: matching(/^sha256-[\w-]{43}$/, 'sha256- and 43 letters, as `npx agent-sessions api-key` prints it'),
    isSecret: true,
  },
  preset: { kind: oneOf(...ACCESS_PRESETS) },
  user: { kind: filled },
  apps: { kind: listOf(/\S/, 'a list of apps') },
  expires: { kind: kindOf('a day such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z', isExpiry) },
};

/** The setting of all API keys, whose variable is JSON. */
export const API_KEYS_SETTING = {
  kind: {
    allowed: 'a JSON list of keys, as `npx agent-sessions api-key` prints them',
    fits: (value: unknown) => Array.isArray(value) && value.length > 0,
    read: readJsonList,
  },
  meaning: 'API keys that are accepted, each with its hash',
  // Somebody may have written a key where a hash belongs.
  isSecret: true,
};

/** Who may sign in to the app of `npm start`. */
export const AUTH_VARIABLES: readonly Variable[] = [
  ...toVariables('AUTH_', 'jwt', JWT_SETTINGS),
  ...toVariables('AUTH_', '', { apiKeys: API_KEYS_SETTING }),
];

/** When a key ends, in epoch milliseconds: a day ends with it. */
export function parseExpiry(expires: string): number {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(expires);
  return Date.parse(isDay ? `${expires}T23:59:59.999Z` : expires);
}

function isExpiry(value: unknown): boolean {
  return (
    text.fits(value) &&
    /^\d{4}-\d\d-\d\d(T.+(Z|[+-]\d\d:\d\d))?$/.test(String(value)) &&
    !Number.isNaN(parseExpiry(String(value)))
  );
}

function isKeySource(value: unknown): boolean {
  if (typeof value === 'string' || value instanceof URL)
    return URL.canParse(String(value)) && isSafeAddress(new URL(value));
  const { keys } = (value ?? {}) as { keys?: unknown };
  return Array.isArray(keys) && keys.length > 0 && keys.every((key) => typeof key === 'object' && key !== null);
}

/** Who can change the keys on their way can sign in as anybody. */
function isSafeAddress({ protocol, hostname, username }: URL): boolean {
  if (username !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname.replaceAll(/[[\]]/g, '')));
}

/** A private key has its public one in it, but has no place in the settings of an app that only reads tokens. */
function isPublicPem(value: unknown): boolean {
  return typeof value === 'string' && /^\s*-----BEGIN (PUBLIC KEY|CERTIFICATE)-----/.test(value);
}

function readPems(given: string): unknown {
  const lines = given.replaceAll('\\n', '\n');
  return lines.match(/-----BEGIN [A-Z ]+-----[^-]+-----END [A-Z ]+-----/g) ?? given;
}

function readJsonList(given: string): unknown {
  try {
    const parsed: unknown = JSON.parse(given);
    return Array.isArray(parsed) ? parsed : [parsed];
  } catch {
    return given;
  }
}
