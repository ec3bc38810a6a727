import { createPublicKey } from 'node:crypto';
import type * as jose from 'jose';
import type { JWTPayload, JWTVerifyGetKey, JWTVerifyOptions } from 'jose';
import {
  ASYMMETRIC_ALGORITHMS,
  type AccessPreset,
  DEFAULT_CLOCK_TOLERANCE_SECONDS,
  type JwtOptions,
} from '../../config/auth-settings.js';
import { ConfigurationError } from '../../config/configuration-error.js';
import { loadPackage } from '../../config/load-package.js';
import { NotSignedInError } from './auth-errors.js';
import { IssuerKeys } from './issuer-keys.js';
import { type Identity, SignedInUser } from './signed-in-user.js';

type Jose = typeof jose;

/** Finds users by signed tokens. */
export class TokenUsers {
  private constructor(
    private readonly options: JwtOptions,
    private readonly library: Jose,
    private readonly keys: JWTVerifyGetKey,
    private readonly now: () => number,
  ) {}

  /** Loads `jose`, which only apps with tokens need. */
  static async load(options: JwtOptions, now: () => number): Promise<TokenUsers> {
    const loaded = await loadPackage(() => import('jose'), 'auth.jwt');
    return new TokenUsers(options, loaded, makeKeys(options, loaded, now), now);
  }

  /** @throws NotSignedInError if the token is not valid, IssuerUnavailableError if nobody can say */
  async identify(token: string): Promise<Identity> {
    const { exp = 0, ...claims } = await this.#verified(token);
    const id = claimIn(claims, this.options.user ?? 'sub');
    if (typeof id !== 'string' || id === '') throw new NotSignedInError('The token names no user.', 'invalid_token');
    const { apps, roles = 'roles' } = this.options;
    const user = new SignedInUser({
      id,
      preset: this.#presetOf(claims),
      // A token that should name its apps, and does not, is for none.
      apps: apps === undefined ? undefined : textsIn(claimIn(claims, apps)),
      roles: textsIn(claimIn(claims, roles)),
      claims: { ...claims, exp },
    });
    return { user, until: (exp + this.#tolerance) * 1000 };
  }

  get #tolerance(): number {
    return this.options.clockToleranceSeconds ?? DEFAULT_CLOCK_TOLERANCE_SECONDS;
  }

  async #verified(token: string): Promise<JWTPayload> {
    const { issuer, audience, algorithms } = this.options;
    const options: JWTVerifyOptions = {
      issuer,
      audience: typeof audience === 'string' ? audience : [...audience],
      algorithms: [...(algorithms ?? ASYMMETRIC_ALGORITHMS)],
      clockTolerance: this.#tolerance,
      // Without it, a stolen token would be good for ever.
      requiredClaims: ['exp'],
      currentDate: new Date(this.now()),
    };
    try {
      return await this.#verifyWith(token, options);
    } catch (error) {
      throw this.#refusal(error);
    }
  }

  /** Keys without ids are tried one after the other. */
  async #verifyWith(token: string, options: JWTVerifyOptions): Promise<JWTPayload> {
    const { jwtVerify, errors } = this.library;
    try {
      return (await jwtVerify(token, this.keys, options)).payload;
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      for await (const key of error) {
        try {
          return (await jwtVerify(token, key, options)).payload;
        } catch (wrong) {
          if (!(wrong instanceof errors.JWSSignatureVerificationFailed)) throw wrong;
        }
      }
      throw new errors.JWSSignatureVerificationFailed();
    }
  }

  /** What is no fault of the token is passed on. */
  #refusal(error: unknown): unknown {
    const { errors } = this.library;
    if (!(error instanceof errors.JOSEError)) return error;
    const claim = error instanceof errors.JWTClaimValidationFailed ? error.claim : '';
    const reason = CLAIMS[claim] ?? REASONS[error.code] ?? 'The token is not valid.';
    return new NotSignedInError(reason, 'invalid_token');
  }

  #presetOf(claims: JWTPayload): AccessPreset {
    const { roles = 'roles' } = this.options;
    const held = new Set<string | undefined>(['scope', 'scp', roles].flatMap((name) => textsIn(claimIn(claims, name))));
    const names = ['service', 'support', 'readonly'] as const;
    return names.find((name) => held.has(this.options[name])) ?? 'client';
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: 'The token has expired.',
  ERR_JOSE_ALG_NOT_ALLOWED: 'The algorithm of the token is not accepted.',
  ERR_JWKS_NO_MATCHING_KEY: 'The key of the token is not known.',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'The signature of the token is wrong.',
  ERR_JWS_INVALID: 'The token is not a signed JWT.',
};

const CLAIMS: Readonly<Record<string, string>> = {
  nbf: 'The token is not valid yet.',
  iss: 'The token is of another issuer.',
  aud: 'The token is for another audience.',
  exp: 'The token does not say when it ends.',
};

function makeKeys({ jwks, publicKeys = [] }: JwtOptions, library: Jose, now: () => number): JWTVerifyGetKey {
  if (typeof jwks === 'string' || jwks instanceof URL) {
    const keys = new IssuerKeys(new URL(jwks), library, now);
    return (header, token) => keys.find(header, token);
  }
  if (jwks) return makeKeySet(jwks.keys, library);
  const keys = makeKeySet(publicKeys.map(readPublicKey), library);
  // Keys as PEM have no ids.
  return ({ kid: _id, ...header }, token) => keys(header, token);
}

function makeKeySet(keys: readonly object[], library: Jose): JWTVerifyGetKey {
  try {
    return library.createLocalJWKSet({ keys: keys.map((key) => ({ ...key })) });
  } catch (cause) {
    throw new ConfigurationError(['auth.jwt.jwks is no key set that can be read.'], { cause });
  }
}

function readPublicKey(pem: string, index: number): object {
  try {
    return createPublicKey(pem).export({ format: 'jwk' });
  } catch (cause) {
    throw new ConfigurationError([`auth.jwt.publicKeys[${index}] is no public key that can be read.`], { cause });
  }
}

/** A claim by its name, or by the way to it: `realm_access.roles`. */
function claimIn(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let found: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined;
    found = (found as Record<string, unknown>)[part];
  }
  return found;
}

/** The texts of a list, or the words of a text. */
function textsIn(claim: unknown): readonly string[] {
  if (typeof claim === 'string') return claim.split(' ').filter((word) => word !== '');
  return Array.isArray(claim) ? claim.filter((each) => typeof each === 'string') : [];
}
