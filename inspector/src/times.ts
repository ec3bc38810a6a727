const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

const STEPS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** How long ago, in words. What the page has not seen yet is now. */
export function ago(time: number, now: number): string {
  const past = Math.max(0, now - time);
  const [unit, size] = STEPS.find(([, ms]) => past >= ms) ?? STEPS[3];
  return RELATIVE.format(-Math.round(past / size), unit);
}

export function exactTime(time: number): string {
  return EXACT.format(time);
}

export function clockTime(time: number): string {
  return CLOCK.format(time);
}

/** How long something took, in one unit or two. */
export function duration(ms: number): string {
  if (ms > 0 && ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toLocaleString(undefined, { maximumFractionDigits: 1 })} s`;
  const seconds = Math.round(ms / 1_000);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours.toLocaleString()} h ${minutes} min` : `${minutes} min ${seconds % 60} s`;
}

/** A figure in its unit, or a dash for what is not known. */
export function figureText(value: number | undefined, text: (value: number) => string): string {
  return value === undefined ? '–' : text(value);
}
