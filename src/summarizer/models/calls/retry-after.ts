/** How long a `Retry-After` header asks to wait, in seconds or until a date; `undefined` where it makes no sense. */
export function retryAfterMs(header: string | null | undefined, now: number): number | undefined {
  const value = header?.trim() ?? '';
  if (/^\d{1,9}(\.\d{1,9})?$/.test(value)) return Math.round(Number(value) * 1_000);
  // Dates of HTTP have letters; `Date.parse` takes a bare number for a year.
  const date = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
