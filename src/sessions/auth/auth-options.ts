import type { ApiKeyOptions, JwtOptions } from '../../config/auth-settings.js';
import { problemsOfJwt, problemsOfKeys } from '../../config/check-auth-options.js';
import { ConfigurationError } from '../../config/configuration-error.js';
import { PLAIN_NAMES, unknownNames } from '../../config/option-checks.js';
import type { SignInRequest } from './credentials.js';

/** Who sends a request. One of these, or several: an API key or a token that is sent counts before `from`. */
export interface AuthOptions {
  /** Finds the user that a guard of the app has set: Passport, better-auth, Clerk, or one of your own. It needs an `id`. */
  from?(request: SignInRequest): unknown;
  /** Tokens of an issuer. Needs the package `jose`. */
  readonly jwt?: JwtOptions | undefined;
  /** Keys that `npx agent-sessions api-key` has made. */
  readonly apiKeys?: readonly ApiKeyOptions[] | undefined;
}

const KNOWN = ['from', 'jwt', 'apiKeys'];

/** @throws ConfigurationError with all that is wrong */
export function checkAuthOptions(auth: AuthOptions): AuthOptions {
  const problems = [
    ...unknownNames({ ...auth }, KNOWN, PLAIN_NAMES, 'auth.'),
    ...(auth.from !== undefined && typeof auth.from !== 'function'
      ? ['auth.from must be a function of the request.']
      : []),
    ...(auth.jwt === undefined ? [] : problemsOfJwt(auth.jwt)),
    ...(auth.apiKeys === undefined ? [] : problemsOfKeys(auth.apiKeys)),
  ];
  const isEmpty = auth.from === undefined && auth.jwt === undefined && auth.apiKeys === undefined;
  if (isEmpty && problems.length === 0) problems.push('auth must have from, jwt or apiKeys.');
  if (problems.length > 0) throw new ConfigurationError(problems);
  return auth;
}
