import { UnauthorizedException } from '@nestjs/common';
import { SessionsError } from '../domain/errors/errors.js';

/** Why a request is refused, by the names of RFC 6750. */
type Fault = 'invalid_token' | 'invalid_request';

/**
 * A request without a sign-in, or with one that is not valid. Says why, and never what was sent.
 *
 * @example if (error instanceof NotSignedInError) reply.header('WWW-Authenticate', error.challenge);
 */
export class NotSignedInError extends UnauthorizedException {
  /** The value of `WWW-Authenticate`. */
  readonly challenge: string;

  /** @param fault missing if nothing was sent, which is not described further */
  constructor(message = 'Sign in first.', fault?: Fault) {
    super(message);
    this.challenge = fault === undefined ? 'Bearer' : `Bearer error="${fault}", error_description="${message}"`;
  }
}

/**
 * The keys of the issuer cannot be read, so that no token can be checked. The log of the server says why.
 *
 * @example if (error instanceof IssuerUnavailableError) return reply.status(503).header('Retry-After', '5').send();
 */
export class IssuerUnavailableError extends SessionsError {
  readonly code = 'ISSUER_UNAVAILABLE';
  readonly status = 503;

  constructor(options?: ErrorOptions) {
    super(
      'Sign-ins cannot be checked now, since the keys of their issuer cannot be read. Try again in some seconds.',
      options,
    );
  }

  /** Once for each try, and not for each request that waits for it. */
  override get isLogged(): boolean {
    return true;
  }
}
