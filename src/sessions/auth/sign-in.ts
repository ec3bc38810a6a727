import { ApiKeys, isApiKey } from './api-keys.js';
import { NotSignedInError } from './auth-errors.js';
import { type AuthOptions, checkAuthOptions } from './auth-options.js';
import { type SignInRequest, readCredential } from './credentials.js';
import type { Identity } from './signed-in-user.js';
import { TokenUsers } from './token-users.js';

const FOREIGN = 'The sign-in of a page counts for that page only.';

/** Finds out who sent a request, by what it carries. */
export class SignIn {
  private constructor(
    private readonly options: AuthOptions,
    private readonly tokens: TokenUsers | undefined,
    private readonly keys: ApiKeys | undefined,
    private readonly isForeign: (request: SignInRequest) => boolean,
  ) {}

  /**
   * @param now the clock, in epoch milliseconds
   * @param isForeign whether a page of another origin has sent a request. Cookies count only where somebody can say
   */
  static async load(
    given: AuthOptions,
    now: () => number = Date.now,
    isForeign: (request: SignInRequest) => boolean = () => true,
  ): Promise<SignIn> {
    const options = checkAuthOptions(given);
    const { jwt, apiKeys } = options;
    const tokens = jwt && (await TokenUsers.load(jwt, now));
    return new SignIn(options, tokens, apiKeys && new ApiKeys(apiKeys, now), isForeign);
  }

  /**
   * Undefined without any sign-in. One that is sent, and is not valid, is refused: nothing else is tried then.
   *
   * @throws NotSignedInError
   */
  async identify(request: SignInRequest): Promise<Identity | undefined> {
    const { tokens, keys, options } = this;
    const credential = tokens || keys ? readCredential(request) : undefined;
    const way = credential && this.#wayOf(credential.text);
    if (credential && way) {
      // Browsers send cookies by themselves, also for a page that is not of this app.
      if (credential.isCookie && this.isForeign(request)) throw new NotSignedInError(FOREIGN, 'invalid_request');
      return way.identify(credential.text);
    }
    const user = await options.from?.(request);
    return user === undefined || user === null ? undefined : { user };
  }

  /** Undefined for a token that only the guard of the app knows. */
  #wayOf(credential: string): TokenUsers | ApiKeys | undefined {
    const { tokens, keys, options } = this;
    if (keys && isApiKey(credential)) return keys;
    return tokens ?? (options.from ? undefined : keys);
  }

  /** What is answered to requests without any sign-in. */
  get missing(): NotSignedInError | undefined {
    return this.options.from ? undefined : new NotSignedInError();
  }
}
