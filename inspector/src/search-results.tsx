import { useEffect, useMemo } from 'preact/hooks';
import type { SearchHit } from '../../src/search/found-events.js';
import type { Api } from './api.js';
import { FoundEvents, groupBySession } from './found-events.js';
import { FailureNotice, Loading, Notice } from './notices.js';
import { NO_PLACE, linkTo, route } from './page-route.js';
import { ago, exactTime } from './times.js';

/** The events of a user that have the words, by session, each with a link to its place. */
export function SearchResults(props: {
  readonly api: Api;
  readonly appName: string;
  readonly userId: string;
  readonly text: string;
  readonly now: number;
}) {
  const { api, appName, userId, text, now } = props;
  const found = useMemo(() => new FoundEvents(api, { appName, userId, text }), [api, appName, userId, text]);
  useEffect(() => void found.more(), [found]);
  const hits = found.hits.value;
  const failure = found.failure.value;
  const isReading = found.isReading.value;
  const left = found.left.value;
  return (
    <div class="found" tabIndex={0} role="region" aria-label="Found events">
      {hits &&
        groupBySession(hits).map(({ sessionId, hits: own }) => (
          <section key={sessionId} aria-label={`Session ${sessionId}`}>
            <h3>
              <bdi>{sessionId}</bdi>
            </h3>
            <ol>
              {own.map((hit) => (
                <li key={hit.seq}>
                  <Hit hit={hit} userId={userId} now={now} />
                </li>
              ))}
            </ol>
          </section>
        ))}
      {failure && <FailureNotice failure={failure} onRetry={() => void found.more()} />}
      {isReading && <Loading what="events" />}
      {hits?.length === 0 && left === 'nothing' && !isReading && (
        <Notice title="No event has these words">
          <p>What was said just now can be found a moment later.</p>
        </Notice>
      )}
      {hits && left !== 'nothing' && !isReading && !failure && (
        <button type="button" onClick={() => void found.more()}>
          {left === 'hits' ? 'More' : 'Search in older events'}
        </button>
      )}
    </div>
  );
}

function Hit(props: { readonly hit: SearchHit; readonly userId: string; readonly now: number }) {
  const { hit, userId, now } = props;
  const to = { ...route.value, userId, sessionId: hit.sessionId, ...NO_PLACE, seq: hit.seq };
  const isChosen = route.value.sessionId === hit.sessionId && route.value.seq === hit.seq;
  return (
    <a {...linkTo(to)} {...(isChosen && { 'aria-current': 'page' as const })}>
      <span class="snippet">
        <bdi>{hit.snippet}</bdi>
      </span>
      <span class="facts">
        <span>{hit.seq}</span>
        <bdi>{hit.author}</bdi>
        <time title={exactTime(hit.at)}>{ago(hit.at, now)}</time>
      </span>
    </a>
  );
}
