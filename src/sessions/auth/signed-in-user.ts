import type { AccessPreset } from '../../config/auth-settings.js';

interface UserFacts {
  readonly id: string;
  readonly preset: AccessPreset;
  readonly apps?: readonly string[] | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The user of a token or an API key, as a rule of the app gets it.
 *
 * @example allows({ user, appName }: AccessRequest): boolean { return user instanceof SignedInUser && user.claims.tenant === appName; }
 */
export class SignedInUser {
  readonly [field: string]: unknown;
  readonly id: string;
  /** What the sign-in allows, unless the rule says something else. */
  readonly preset: AccessPreset;
  /** The apps that the sign-in is for. Undefined: all. No rule is asked about others. */
  readonly apps: readonly string[] | undefined;
  readonly roles: readonly string[];
  /** All claims of the token. Empty for an API key. */
  readonly claims: Readonly<Record<string, unknown>>;

  constructor({ id, preset, apps, roles = [], claims = {} }: UserFacts) {
    this.id = id;
    this.preset = preset;
    this.apps = apps;
    this.roles = roles;
    this.claims = claims;
    Object.freeze(this);
  }
}

/** Who sent a request, and until when that counts. */
export interface Identity {
  readonly user: unknown;
  /** Epoch milliseconds. */
  readonly until?: number | undefined;
}
