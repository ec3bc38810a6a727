import { signal } from '@preact/signals';

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

export const route = signal<PageRoute>(routeOf(location.hash));

addEventListener('hashchange', () => (route.value = routeOf(location.hash)));

/** The address of a route, to link to. */
export function addressOf(to: PageRoute): string {
  const query = new URLSearchParams();
  for (const name of NAMES) {
    const value = to[name];
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  // The page has a base for its files, which relative addresses would move to.
  return `${location.pathname}${location.search}#${query.toString()}`;
}

/** Shows something else. Steps through time replace the address, so that "back" leads out of them. */
export function show(changes: PageRoute, { replace = false } = {}): void {
  const next = { ...route.value, ...changes };
  const address = addressOf(next);
  if (replace) history.replaceState(undefined, '', address);
  else if (address !== `${location.pathname}${location.search}${location.hash}`)
    history.pushState(undefined, '', address);
  route.value = next;
}

function routeOf(hash: string): PageRoute {
  const query = new URLSearchParams(hash.replace(/^#/, ''));
  const given = NAMES.flatMap((name) => {
    const value = query.get(name);
    return value === null || value === '' ? [] : [[name, value] as const];
  });
  const { seq, ...texts } = Object.fromEntries(given) as Record<string, string>;
  return { ...texts, ...(seq !== undefined && /^\d{1,15}$/.test(seq) && { seq: Number(seq) }) };
}
