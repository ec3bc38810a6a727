import type { AccessTokenSource } from './vertex-options.js';

const SCOPES = ['https://www.googleapis.com/auth/cloud-platform'];

/** Tokens by Google's application default credentials. The package is loaded with the first token. */
export function googleTokens(): AccessTokenSource {
  let auth: Promise<{ getAccessToken(): Promise<string | null | undefined> }> | undefined;
  return async (isRefused) => {
    // A new object has no cached token.
    if (isRefused) auth = undefined;
    auth ??= newAuth();
    auth.catch(() => (auth = undefined));
    const token = await (await auth).getAccessToken();
    if (!token) throw new Error('The application default credentials give no access token.');
    return token;
  };
}

async function newAuth(): Promise<{ getAccessToken(): Promise<string | null | undefined> }> {
  const { GoogleAuth } = await import('google-auth-library');
  return new GoogleAuth({ scopes: SCOPES });
}
