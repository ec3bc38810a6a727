import { signal } from '@preact/signals';
import { NO_PLACE, type PageRoute, hashOf, routeOf } from '../../src/inspector/page-address.js';

export { NO_PLACE, type PageRoute };

export const route = signal<PageRoute>(routeOf(location.hash));

addEventListener('hashchange', () => (route.value = routeOf(location.hash)));

/** The address of a route, to link to. */
export function addressOf(to: PageRoute): string {
  // The page has a base for its files, which relative addresses would move to.
  return `${location.pathname}${location.search}${hashOf(to)}`;
}

/** Browsers refuse an address that is written too often, as while a slider is moved. */
const WRITE_PAUSE_MS = 150;
let writing: ReturnType<typeof setTimeout> | undefined;

/** Shows something else. Steps through time replace the address, so that "back" leads out of them. */
export function show(changes: PageRoute, { replace = false } = {}): void {
  const next = { ...route.value, ...changes };
  const address = addressOf(next);
  route.value = next;
  clearTimeout(writing);
  if (replace) writing = setTimeout(() => history.replaceState(undefined, '', address), WRITE_PAUSE_MS);
  else if (address !== `${location.pathname}${location.search}${location.hash}`)
    history.pushState(undefined, '', address);
}

/** Where a link leads, without loading the page again. A new tab or window is left to the browser. */
export function linkTo(to: PageRoute): { readonly href: string; readonly onClick: (event: MouseEvent) => void } {
  return {
    href: addressOf(to),
    onClick: (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      show(to);
    },
  };
}
