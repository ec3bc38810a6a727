import { useEffect, useMemo } from 'preact/hooks';
import { APPROVAL_LABEL } from '../../src/agents/invocation/approval-names.js';
import type { RemoteKey } from '../../src/client/index.js';
import { Composer, SessionActions } from './actions.js';
import type { Api } from './api.js';
import { AppendForm } from './append-form.js';
import { Approvals } from './approvals.js';
import { EventPanel } from './event-panel.js';
import { later } from './later.js';
import { FailureNotice, Loading, Notice } from './notices.js';
import { route, show } from './page-route.js';
import { SessionLog } from './session-log.js';
import type { SessionReads, ShownSession } from './session-reads.js';
import { StatePanel } from './state-panel.js';
import { Speaking, Timeline } from './timeline.js';
import { isOfTurn } from '../../src/inspector/trace-links.js';
import { exactTime } from './times.js';
import { TraceLink } from './trace-link.js';
import { ViewPanel } from './view-panel.js';

const LIVE = 'live';

const ChartsPanel = later('the charts', async () => (await import('./charts-panel.js')).ChartsPanel);
const CheckPanel = later('the check', async () => (await import('./check-panel.js')).CheckPanel);
const RequestPanel = later('the requests', async () => (await import('./request-panel.js')).RequestPanel);

const TABS = [
  ['state', 'State'],
  ['view', 'View'],
  ['request', 'Request'],
  ['event', 'Event'],
  ['charts', 'Charts'],
  ['check', 'Check'],
] as const;

/** One session: its timeline, and the state, the view or an event beside it. */
export function SessionPage(props: {
  readonly reads: SessionReads;
  /** To act on the session. A copy of a session has none. */
  readonly api?: Api;
  readonly sessionKey: RemoteKey;
}) {
  const { reads, api, sessionKey } = props;
  const { appName, userId, sessionId } = sessionKey;
  const log = useMemo(() => new SessionLog(reads, { appName, userId, sessionId }), [reads, appName, userId, sessionId]);
  useEffect(() => {
    log.open();
    return () => void log.close();
  }, [log]);
  const last = log.lastSeq.value;
  const seq = Math.min(Math.max(route.value.seq ?? last, log.firstSeq.value), last);
  useStepKeys(log, seq);
  const failure = log.failure.value;
  const session = log.session.value;
  if (!session) {
    return (
      <main>
        {failure ? <FailureNotice failure={failure} onRetry={() => log.retry()} /> : <Loading what="the session" />}
      </main>
    );
  }
  return (
    <main class="session">
      <Header session={session} life={api ? lifeOf(api, log) : 'a copy'} traceUrl={api?.config.traceUrl} />
      {failure && <FailureNotice failure={failure} onRetry={() => log.retry()} />}
      <div class="columns">
        <section class="conversation" aria-label="Timeline">
          {last === 0 ? <Notice title="No events yet" /> : <Timeline log={log} traceUrl={api?.config.traceUrl} />}
          <Speaking log={log} />
          {api && isAsking(session) && <Approvals api={api} sessionKey={log.key} version={last} />}
          {api?.may('message') === true && <Composer api={api} sessionKey={log.key} />}
        </section>
        {log.isOpen.value && <Beside reads={reads} api={api} log={log} seq={seq} />}
      </div>
      <Scrubber log={log} seq={seq} />
      {api?.may('append') === true && <AppendForm api={api} log={log} />}
      {api && <SessionActions api={api} log={log} seq={seq} isNewest={seq === last} />}
    </main>
  );
}

/** Whether an agent asks for an approval. */
function isAsking({ metadata }: ShownSession): boolean {
  return Object.hasOwn(metadata.labels, APPROVAL_LABEL);
}

/** Whether what is shown goes on. */
function lifeOf({ isReachable }: Api, { isLive }: SessionLog): string {
  if (!isReachable.value) return 'reconnecting …';
  return isLive.value ? LIVE : 'not live';
}

function Header(props: {
  readonly session: ShownSession;
  readonly life: string;
  readonly traceUrl: string | undefined;
}) {
  const { session, life, traceUrl } = props;
  const { appName, id, userId, metadata, version, createTime, lastUpdateTime, turnsOnly } = session;
  const { title, status, tags, labels } = metadata;
  return (
    <header class="session-head">
      <h1>
        <bdi>{title ?? id}</bdi>
        <span class={life === LIVE ? 'live on' : 'live'} role="status">
          {life}
        </span>
      </h1>
      <p class="facts">
        <bdi>{userId}</bdi>
        <bdi>{id}</bdi>
        {status !== undefined && (
          <span class="status">
            <bdi>{status}</bdi>
          </span>
        )}
        {tags.map((tag) => (
          <span class="tag" key={tag}>
            <bdi>{tag}</bdi>
          </span>
        ))}
        {Object.entries(labels).map(([name, value]) => (
          <span class="tag" key={name}>
            <bdi>{name}</bdi>: <bdi>{value}</bdi>
          </span>
        ))}
        <span>{version.toLocaleString()} events</span>
        <span>created {exactTime(createTime)}</span>
        <span>updated {exactTime(lastUpdateTime)}</span>
        {traceUrl !== undefined && !isOfTurn(traceUrl) && (
          <TraceLink template={traceUrl} place={{ appName, sessionId: id, invocationId: '' }} />
        )}
        {turnsOnly === true && <span>writes need a turn</span>}
      </p>
    </header>
  );
}

function Beside(props: {
  readonly reads: SessionReads;
  readonly api: Api | undefined;
  readonly log: SessionLog;
  readonly seq: number;
}) {
  const { reads, api, log, seq } = props;
  // A copy in a file has nothing to check it against.
  const tabs = TABS.filter(([name]) => name !== 'check' || api);
  const tab = tabs.find(([name]) => name === route.value.tab)?.[0] ?? 'state';
  void log.revision.value;
  return (
    <aside aria-label="Details">
      <div role="tablist" aria-label="Details">
        {tabs.map(([name, title]) => (
          <button
            key={name}
            id={`tab-${name}`}
            type="button"
            role="tab"
            aria-selected={tab === name}
            aria-controls="beside"
            onClick={() => show({ tab: name }, { replace: true })}
          >
            {title}
          </button>
        ))}
      </div>
      <div id="beside" class="beside" role="tabpanel" aria-labelledby={`tab-${tab}`} tabIndex={0}>
        {tab === 'state' && <StatePanel reads={reads} sessionKey={log.key} seq={seq} firstSeq={log.firstSeq.value} />}
        {tab === 'view' && <ViewPanel log={log} api={api} seq={seq} />}
        {tab === 'request' && <RequestPanel reads={reads} log={log} seq={seq} />}
        {tab === 'event' && <EventPanel event={log.eventAt(seq)} />}
        {tab === 'charts' && <ChartsPanel reads={reads} api={api} log={log} seq={seq} />}
        {tab === 'check' && api && <CheckPanel api={api} log={log} />}
      </div>
    </aside>
  );
}

/** Goes through the log, event by event. */
function Scrubber(props: { readonly log: SessionLog; readonly seq: number }) {
  const { log, seq } = props;
  const [first, last] = [log.firstSeq.value, log.lastSeq.value];
  if (last < first) return undefined;
  return (
    <div class="scrubber">
      <button type="button" aria-label="Event before" onClick={() => step(log, seq, -1)}>
        ←
      </button>
      <input
        type="range"
        aria-label="Moment"
        min={first}
        max={last}
        value={seq}
        onInput={(event) => go(log, Number(event.currentTarget.value))}
      />
      <button type="button" aria-label="Event after" onClick={() => step(log, seq, 1)}>
        →
      </button>
      <output>
        {seq.toLocaleString()} / {last.toLocaleString()}
      </output>
    </div>
  );
}

/** The newest event is followed, so it is not kept in the address. */
function go(log: SessionLog, seq: number): void {
  show({ seq: seq >= log.lastSeq.value ? undefined : Math.max(seq, log.firstSeq.value) }, { replace: true });
}

function step(log: SessionLog, seq: number, by: number): void {
  go(log, seq + by);
}

const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, k: -1, j: 1 };

/** The arrow keys, and `k` and `j`, where nothing is typed. */
function useStepKeys(log: SessionLog, seq: number): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const by = STEPS[event.key];
      const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
      if (by === undefined || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      step(log, seq, by);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [log, seq]);
}
