import { ConfigurationError } from '../../config/configuration-error.js';
import { NotSignedInError } from '../auth/auth-errors.js';
import { CLEARED_COOKIE, cookieFor, credentialInCookie } from '../auth/sign-in-cookie.js';
import { endSignedOut } from './signed-out.js';
import type { SignInRequest } from '../auth/credentials.js';
import type { SignIn } from '../auth/sign-in.js';
import { SignedInUser } from '../auth/signed-in-user.js';
import { type AccessAnswer, type AccessRequest, OpenAccess, SessionAccess } from './session-access.js';

const OPEN = '`auth` has no effect with OpenAccess, which lets everybody in; leave `access` out, or give another rule.';
const TWO_USERS = '`auth` and userOf() of the access rule both say who the user is; remove one of the two.';

/** The rule of the app, which decides what; `auth` has found out who. */
export class SignedInAccess extends SessionAccess {
  override readonly acceptsAnonymous: boolean;
  /** Until when sign-ins count, by request. */
  readonly #ends = new WeakMap<object, number>();

  constructor(
    private readonly signIn: SignIn,
    private readonly rule: SessionAccess,
  ) {
    super();
    if (rule instanceof OpenAccess) throw new ConfigurationError([OPEN]);
    if (rule.userOf !== SessionAccess.prototype.userOf) throw new ConfigurationError([TWO_USERS]);
    this.acceptsAnonymous = rule.acceptsAnonymous;
  }

  override async userOf(request: SignInRequest): Promise<unknown> {
    const identity = await this.signIn.identify(request);
    if (!identity) {
      if (!this.acceptsAnonymous && this.signIn.missing) throw this.signIn.missing;
      return undefined;
    }
    if (identity.until !== undefined) this.#ends.set(request, identity.until);
    // For handlers, which find the user of a guard there, too.
    if (request.user === undefined) Object.assign(request, { user: identity.user });
    return identity.user;
  }

  /**
   * The cookie for a page that sends a token or an API key once, so that its scripts need not keep it.
   *
   * @throws NotSignedInError if it is not valid
   */
  async cookieFor(credential: string): Promise<string> {
    await this.userOf({ headers: { authorization: `Bearer ${credential}` } });
    const cookie = cookieFor(credential);
    if (cookie === undefined) throw new NotSignedInError('The token is too long for a cookie.', 'invalid_token');
    return cookie;
  }

  /** The cookie for a page that signs out. What this process has open for it, also in other tabs, ends. */
  signOut(request: SignInRequest): string {
    endSignedOut(request);
    return CLEARED_COOKIE;
  }

  /** Whether a page has signed in, whatever the cookie is worth by now. */
  hasCookie({ headers }: SignInRequest): boolean {
    return credentialInCookie(headers?.cookie) !== undefined;
  }

  override signedInUntil(request: object): number | undefined {
    return this.#ends.get(request) ?? this.rule.signedInUntil(request);
  }

  allows(asked: AccessRequest): AccessAnswer | Promise<AccessAnswer> {
    const { user, appName } = asked;
    const isElsewhere = user instanceof SignedInUser && user.apps?.includes(appName) === false;
    return isElsewhere ? false : this.rule.allows(asked);
  }

  override allowsWrite(asked: AccessRequest): boolean | Promise<boolean> {
    return this.rule.allowsWrite(asked);
  }

  override allowsServerState(asked: AccessRequest): boolean | Promise<boolean> {
    return this.rule.allowsServerState(asked);
  }

  override allowsPrompts(asked: AccessRequest): boolean | Promise<boolean> {
    return this.rule.allowsPrompts(asked);
  }
}
