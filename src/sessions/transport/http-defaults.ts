/** The body limit that a server needs: an event of the default limit, with JSON escapes. */
export const SESSIONS_BODY_LIMIT = 4 * 1024 * 1024;

const DIRECTIVES: Readonly<Record<string, string>> = {
  'default-src': "'self'",
  'script-src': "'self'",
  // UI libraries set inline styles at run time.
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data: blob:",
  'font-src': "'self' data:",
  'worker-src': "'self' blob:",
  'connect-src': "'self'",
  'object-src': "'none'",
  'base-uri': "'self'",
  'form-action': "'self'",
  'frame-ancestors': "'none'",
};

const NO_SNIFFING = { 'X-Content-Type-Options': 'nosniff' } as const;

/**
 * The headers of HTML pages, and of their scripts and workers: those of this package, and of your own that show what users and models
 * said. Everything loads from the server itself, inline scripts and `eval` are blocked, and no other site may frame the page.
 *
 * @param overrides directives of the policy to replace
 * @example
 * for (const [name, value] of Object.entries(pageHeaders())) response.setHeader(name, value);
 */
export function pageHeaders(overrides: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const policy = Object.entries({ ...DIRECTIVES, ...overrides }).map(([name, sources]) => `${name} ${sources}`);
  return { ...NO_SNIFFING, 'Content-Security-Policy': policy.join('; '), 'Referrer-Policy': 'no-referrer' };
}

/** The headers of other files and documents. */
export function fileHeaders(): Readonly<Record<string, string>> {
  return NO_SNIFFING;
}
