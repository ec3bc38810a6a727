/** What the page shows. It is in the address, so that it can be shared. */
export interface PageRoute {
  readonly app?: string;
  readonly userId?: string;
  readonly sessionId?: string;
  /** The event that is looked at. The newest by default. */
  readonly seq?: number;
  /** What stands beside the timeline. */
  readonly tab?: string;
  /** Which sessions are listed. */
  readonly user?: string;
  readonly status?: string;
  readonly tag?: string;
  readonly label?: string;
  /** How long ago a session may have changed at most, by its name in the filter. */
  readonly since?: string;
}

const NAMES = ['app', 'userId', 'sessionId', 'seq', 'tab', 'user', 'status', 'tag', 'label', 'since'] as const;

/** A route as the hash of an address. */
export function hashOf(route: PageRoute): string {
  const query = new URLSearchParams();
  for (const name of NAMES) {
    const value = route[name];
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  return `#${query.toString()}`;
}

/** The route in the hash of an address. What it does not know is left out. */
export function routeOf(hash: string): PageRoute {
  const query = new URLSearchParams(hash.replace(/^#/, ''));
  const given = NAMES.flatMap((name) => {
    const value = query.get(name);
    return value === null || value === '' ? [] : [[name, value] as const];
  });
  const { seq, ...texts } = Object.fromEntries(given) as Record<string, string>;
  return { ...texts, ...(seq !== undefined && /^\d{1,15}$/.test(seq) && { seq: Number(seq) }) };
}
