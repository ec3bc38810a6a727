import { credentialInCookie } from '../auth/sign-in-cookie.js';

/** What this process has open for pages that have signed in, by what is in their cookie. */
const open = new Map<string, Set<() => void>>();

/**
 * Calls `end` when a page signs out of the cookie of this request, in any tab. Call the returned function when it has ended without.
 *
 * @example socket.once('close', onSignOut(request, () => socket.close(4401, 'Signed out')));
 */
export function onSignOut(request: unknown, end: () => void): () => void {
  const credential = credentialOf(request);
  if (credential === undefined) return () => undefined;
  const ends = open.get(credential) ?? new Set();
  open.set(credential, ends.add(end));
  return () => {
    if (ends.delete(end) && ends.size === 0) open.delete(credential);
  };
}

/** Ends what was opened with the cookie of this request. Whoever has signed in with the same elsewhere connects again. */
export function endSignedOut(request: unknown): void {
  for (const end of open.get(credentialOf(request) ?? '') ?? []) end();
}

function credentialOf(request: unknown): string | undefined {
  return credentialInCookie(
    (request as { readonly headers?: { readonly cookie?: unknown } } | undefined)?.headers?.cookie,
  );
}
