import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { RemoteSession } from '../../src/client/index.js';
import type { Api } from './api.js';
import { isGone, nameOf } from './gone-sessions.js';
import { FailureNotice, Loading, Notice } from './notices.js';
import { NO_PLACE, linkTo, route, show } from './page-route.js';
import { SearchBox, SearchResults, searchedUser } from './search-box.js';
import { PERIODS, SessionList } from './session-list.js';
import { ago, exactTime } from './times.js';
import { useVirtualRows } from './virtual-rows.js';

const ROW_PX = 64;
const FILTERS = [
  ['user', 'User'],
  ['status', 'Status'],
  ['tag', 'Tag'],
  ['label', 'Label (name:value)'],
] as const;

/** The sessions of the chosen app, or what was found in those of a user. */
export function SessionListPanel(props: { readonly api: Api; readonly now: number }) {
  const { api, now } = props;
  const { app = '', search } = route.value;
  const userId = searchedUser();
  const isSearching = api.config.search && search !== undefined && userId !== undefined;
  return (
    <nav class="sessions" aria-label="Sessions">
      {api.config.search && <SearchBox />}
      {isSearching ? (
        <SearchResults api={api} appName={app} userId={userId} text={search} now={now} />
      ) : (
        <FilteredSessions api={api} now={now} />
      )}
    </nav>
  );
}

function FilteredSessions(props: { readonly api: Api; readonly now: number }) {
  const { app, user, status, tag, label, since } = route.value;
  const list = useMemo(
    () => new SessionList(props.api, { app, user, status, tag, label, since }),
    [props.api, app, user, status, tag, label, since],
  );
  useEffect(() => list.open(), [list]);
  const sessions = list.sessions.value?.filter((session) => !isGone(session));
  const failure = list.failure.value;
  const isFiltered = [user, status, tag, label, since].some((value) => value !== undefined && value !== '');
  return (
    <>
      <Filters />
      {failure && <FailureNotice failure={failure} onRetry={() => void list.refresh()} />}
      {!sessions && !failure && <Loading what="sessions" />}
      {sessions?.length === 0 && !failure && (
        <Notice title={isFiltered ? 'No session matches the filter' : 'This app has no sessions yet'} />
      )}
      {sessions && sessions.length > 0 && <Rows list={list} sessions={sessions} now={props.now} />}
    </>
  );
}

function Filters() {
  return (
    <details
      class="filters"
      open={FILTERS.some(([name]) => route.value[name] !== undefined) || route.value.since !== undefined}
    >
      <summary>Filter</summary>
      {FILTERS.map(([name, title]) => (
        <label key={name}>
          {title}
          <input
            type="search"
            value={route.value[name] ?? ''}
            onChange={(event) => show({ [name]: event.currentTarget.value.trim() || undefined })}
          />
        </label>
      ))}
      <label>
        Changed
        <select
          value={route.value.since ?? ''}
          onChange={(event) => show({ since: event.currentTarget.value || undefined })}
        >
          <option value="">at any time</option>
          {Object.keys(PERIODS).map((period) => (
            <option key={period} value={period}>
              in the last {period}
            </option>
          ))}
        </select>
      </label>
    </details>
  );
}

function Rows(props: {
  readonly list: SessionList;
  readonly sessions: readonly RemoteSession[];
  readonly now: number;
}) {
  const { list, sessions, now } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualRows({
    count: sessions.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
  });
  const shown = rows.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (list.hasMore.value && last >= sessions.length - 20) void list.more();
  }, [list, last, sessions]);
  return (
    <div class="scroller" ref={scroller} tabIndex={0} role="region" aria-label="List of sessions">
      <ol style={{ height: `${rows.getTotalSize()}px` }}>
        {shown.map(({ index, start }) => {
          const session = sessions[index];
          return (
            session && (
              <li key={nameOf(session)} style={{ transform: `translateY(${start}px)` }}>
                <Row session={session} now={now} />
              </li>
            )
          );
        })}
      </ol>
    </div>
  );
}

function Row(props: { readonly session: RemoteSession; readonly now: number }) {
  const { session, now } = props;
  const { userId, id, metadata, lastUpdateTime, version, unreadable } = session;
  const { sessionId: chosen, userId: chosenUser } = route.value;
  const to = { ...route.value, userId, sessionId: id, ...NO_PLACE };
  const isChosen = chosen === id && chosenUser === userId;
  return (
    <a {...linkTo(to)} {...(isChosen && { 'aria-current': 'page' as const })}>
      <span class="title">
        <bdi>{metadata.title ?? id}</bdi>
      </span>
      <span class="facts">
        <bdi>{userId}</bdi>
        {unreadable && <span class="unreadable">cannot be decrypted</span>}
        {metadata.status !== undefined && (
          <span class="status">
            <bdi>{metadata.status}</bdi>
          </span>
        )}
        {metadata.tags.map((each) => (
          <span class="tag" key={each}>
            <bdi>{each}</bdi>
          </span>
        ))}
      </span>
      <span class="facts">
        <time title={exactTime(lastUpdateTime)}>{ago(lastUpdateTime, now)}</time>
        <span>{version === 1 ? '1 event' : `${version} events`}</span>
      </span>
    </a>
  );
}
