/** What the page shows. It is in the address, so that it can be shared. */
export interface PageRoute {
  readonly app?: string;
  readonly userId?: string;
  readonly sessionId?: string;
  /** The event that is looked at. The newest by default. */
  readonly seq?: number;
  /** The answer whose request is looked at. By default the one at the event that is looked at, or before it. */
  readonly request?: number;
  /** The answer to the request that it is compared with. By default the agent's one before. */
  readonly against?: number;
  /** What stands beside the timeline. */
  readonly tab?: string;
  /** Which sessions are listed. */
  readonly user?: string;
  readonly status?: string;
  readonly tag?: string;
  readonly label?: string;
  /** How long ago a session may have changed at most, by its name in the filter. */
  readonly since?: string;
  /** The words that are searched for in the sessions of the user. */
  readonly search?: string;
}

const TEXTS = ['app', 'userId', 'sessionId', 'tab', 'user', 'status', 'tag', 'label', 'since', 'search'] as const;
const NUMBERS = ['seq', 'request', 'against'] as const;
const NAMES = [...TEXTS, ...NUMBERS] as const;

/** No place in a session: each has its own. */
export const NO_PLACE = { seq: undefined, request: undefined, against: undefined } as const;

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
  const texts = TEXTS.flatMap((name) => {
    const value = query.get(name);
    return value === null || value === '' ? [] : [[name, value] as const];
  });
  const numbers = NUMBERS.flatMap((name) => {
    const value = query.get(name) ?? '';
    return /^\d{1,15}$/.test(value) ? [[name, Number(value)] as const] : [];
  });
  return Object.fromEntries<string | number>([...texts, ...numbers]);
}
