/** `__Host-`: browsers take it over TLS only, for this host only, and no other host can set it. */
const NAME = '__Host-agent-sessions';
/** Browsers drop longer cookies in silence. */
const MOST_BYTES = 3_800;
/** A working day, so that a browser that is left alone forgets the sign-in. */
const LIFE_SECONDS = 8 * 60 * 60;

/**
 * The cookie of a page of this package that has signed in, for `Set-Cookie`. Scripts cannot read it, and it goes with no request of
 * another site. Undefined for what no cookie can hold.
 */
export function cookieFor(credential: string): string | undefined {
  if (!/^[\w.~+/=-]+$/.test(credential) || credential.length > MOST_BYTES) return undefined;
  return cookieOf(credential, LIFE_SECONDS);
}

/** Takes the cookie from the browser. The token or API key that was in it counts as long as it would have without. */
export const CLEARED_COOKIE = cookieOf('', 0);

function cookieOf(value: string, seconds: number): string {
  return `${NAME}=${value}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=${seconds}`;
}

/** The token or API key in the cookie of a request. Another cookie of the same name makes it unclear whose it is. */
export function credentialInCookie(cookies: unknown): string | undefined {
  if (typeof cookies !== 'string') return undefined;
  const own = cookies
    .split(';')
    .map((each) => each.trim())
    .filter((each) => each.startsWith(`${NAME}=`));
  return own.length === 1 ? own[0]?.slice(NAME.length + 1) : undefined;
}
