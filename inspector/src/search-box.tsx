import { later } from './later.js';
import { route, show } from './page-route.js';

/** What a search finds. Its code is loaded by the first search. */
export const SearchResults = later('search', async () => (await import('./search-results.js')).SearchResults);

/** Whose sessions are searched: of the user of the filter, or of the session that is looked at. */
export function searchedUser(): string | undefined {
  return route.value.user ?? route.value.userId;
}

function submit(event: SubmitEvent): void {
  event.preventDefault();
  const text = new FormData(event.currentTarget as HTMLFormElement).get('search');
  show({ search: typeof text === 'string' ? text.trim() || undefined : undefined });
}

/** Searches in the sessions of one user. */
export function SearchBox() {
  const user = searchedUser();
  if (user === undefined) return <p class="search-box hint">To search, choose a session, or filter by a user.</p>;
  return (
    <form class="search-box" role="search" onSubmit={submit}>
      <label>
        <span>
          Search what was said with <bdi>{user}</bdi>
        </span>
        <input
          key={route.value.search}
          type="search"
          name="search"
          maxLength={1000}
          defaultValue={route.value.search}
        />
      </label>
      {route.value.search !== undefined && (
        <button type="button" onClick={() => show({ search: undefined })}>
          All sessions
        </button>
      )}
    </form>
  );
}
