import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Part } from '../../src/sessions/domain/event/content.js';
import type { LoggedEvent } from '../../src/sessions/domain/event/event.js';
import { beginsTurn, changedKeys, kindOf, tokensOf } from './event-kinds.js';
import { EventPart, Said } from './event-parts.js';
import { decisionText } from './explained-events.js';
import { isOfTurn } from '../../src/inspector/trace-links.js';
import { route, show } from './page-route.js';
import { MARK_TEXTS, RequestMarks } from './request-marks.js';
import type { SessionLog } from './session-log.js';
import { clockTime, exactTime } from './times.js';
import { TraceLink } from './trace-link.js';
import { useVirtualRows } from './virtual-rows.js';

const ROW_PX = 72;
/** So many parts and keys of an event are drawn. The panel beside has all of them. */
const MOST_SHOWN = 50;
/** So near to its end a reader follows what comes. */
const END_PX = 80;

/** All events of a session in their order, by turns. Each number of the log has its place, read or not. */
export function Timeline(props: { readonly log: SessionLog; readonly traceUrl?: string | undefined }) {
  const { log, traceUrl } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const first = log.firstSeq.value;
  const count = Math.max(0, log.lastSeq.value - first + 1);
  const revision = log.revision.value;
  const rows = useVirtualRows({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 6,
  });
  const shown = rows.getVirtualItems();
  const from = first + (shown[0]?.index ?? 0);
  const to = first + (shown.at(-1)?.index ?? 0);
  const { seq } = route.value;
  useEffect(() => {
    if (count > 0) log.need(Math.max(first, from - 1), to);
  }, [log, first, count, from, to, revision]);
  const height = rows.getTotalSize();
  const request = log.request.value;
  const marks = useMemo(() => request && new RequestMarks(request), [request]);
  const visible = rows.scrollRect?.height;
  const isAtEnd = useRef(true);
  // The newest events are followed until one is chosen, or the reader scrolls up. Rows become higher when they are drawn, and
  // what stands below takes room.
  useEffect(() => {
    if (count > 0 && seq === undefined && isAtEnd.current) rows.scrollToIndex(count - 1, { align: 'end' });
  }, [rows, count, height, visible, seq]);
  useEffect(() => {
    if (seq !== undefined) rows.scrollToIndex(seq - first, { align: 'auto' });
  }, [rows, first, seq]);
  return (
    <div
      class="scroller timeline"
      ref={scroller}
      tabIndex={0}
      role="region"
      aria-label="Events"
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < END_PX;
      }}
    >
      <ol style={{ height: `${height}px` }}>
        {shown.map(({ index, start, key }) => (
          <li
            key={key}
            data-index={index}
            ref={(element) => rows.measureElement(element)}
            style={{ transform: `translateY(${start}px)` }}
          >
            <Row log={log} seq={first + index} marks={marks} traceUrl={traceUrl} />
          </li>
        ))}
      </ol>
    </div>
  );
}

function Row(props: {
  readonly log: SessionLog;
  readonly seq: number;
  readonly marks: RequestMarks | undefined;
  readonly traceUrl: string | undefined;
}) {
  const { log, seq, marks, traceUrl } = props;
  // What is read later of its neighbours changes what a row says.
  void log.revision.value;
  const event = log.eventAt(seq);
  if (!event) return log.isMissing(seq) ? <Missing seq={seq} /> : <div class="event loading">{seq}</div>;
  const parts = event.content?.parts ?? [];
  const before = log.eventAt(seq - 1);
  const isChosen = route.value.seq === seq;
  const kind = kindOf(event);
  const decision = log.decisionOn(seq);
  const mark = marks?.at(seq);
  const covered = log.wouldCover.value;
  const isCovered =
    covered !== undefined && covered.fromSeq <= seq && seq <= covered.toSeq && decision?.inView === true;
  // While a request is looked at, the timeline says what it was given, and not what the next one would be.
  const isOut = marks ? mark === 'left' || mark === 'removed' : decision?.inView === false && !event.actions.rewind;
  const why = marks ? mark && MARK_TEXTS[mark] : decision && decisionText(seq, decision);
  const classes = [
    'event',
    kind.replace(' ', '-'),
    isOut && 'out-of-view',
    mark && `mark-${mark}`,
    isCovered && 'would-cover',
    isCovered && covered.toSeq === seq && 'cut',
  ];
  return (
    <>
      {beginsTurn(event, before) && (
        <div class="turn">
          Turn <bdi>{event.invocationId}</bdi>
          {traceUrl !== undefined && isOfTurn(traceUrl) && (
            <TraceLink template={traceUrl} place={{ ...log.key, invocationId: event.invocationId }} />
          )}
        </div>
      )}
      <button
        type="button"
        class={classes.filter((each) => each).join(' ')}
        aria-pressed={isChosen}
        onClick={() => show({ seq: isChosen ? undefined : seq })}
      >
        <Head event={event} kind={kind} why={why} isOlder={log.isOlder(event)} isCovered={isCovered} />
        {parts.slice(0, MOST_SHOWN).map((part, index) => (
          <EventPart key={index} part={part} answer={answerTo(log, event, part)} />
        ))}
        {parts.length > MOST_SHOWN && (
          <div class="other">and {(parts.length - MOST_SHOWN).toLocaleString()} more parts</div>
        )}
        <Effects event={event} />
      </button>
    </>
  );
}

function Missing(props: { readonly seq: number }) {
  return (
    <div class="event error">
      <span class="head">
        <span class="seq">{props.seq}</span>
        <span class="kind">missing</span>
      </span>
      <span class="effect error">The store has no such event.</span>
    </div>
  );
}

/** The result of a call stands beside it, too. */
function answerTo(log: SessionLog, { seq }: LoggedEvent, { functionCall }: Part): unknown {
  const id = functionCall?.id;
  if (id === undefined) return undefined;
  const parts = log.responseTo(id, seq)?.content?.parts ?? [];
  return parts.find(({ functionResponse }) => functionResponse?.id === id)?.functionResponse?.response;
}

function Head(props: {
  readonly event: LoggedEvent;
  readonly kind: string;
  /** What is said of why a model is given it, or not. */
  readonly why: string | undefined;
  readonly isOlder: boolean;
  readonly isCovered: boolean;
}) {
  const { event, kind, why, isOlder, isCovered } = props;
  const { seq, author = '', timestamp, modelVersion } = event;
  const tokens = tokensOf(event);
  return (
    <span class="head">
      <span class="seq">{seq}</span>
      <span class="kind">{kind}</span>
      <bdi class="author">{author}</bdi>
      {modelVersion && <bdi class="model">{modelVersion}</bdi>}
      {tokens !== undefined && <span>{tokens.toLocaleString()} tokens</span>}
      {isOlder && (
        <span class="hidden-mark" title="Copied by a fork or an import, or dated by who wrote it">
          older than the session
        </span>
      )}
      {isCovered && <span class="hidden-mark">for the next summary</span>}
      {why && <span class="hidden-mark why">{why}</span>}
      <time title={exactTime(timestamp)}>{clockTime(timestamp)}</time>
    </span>
  );
}

/** What an event did beside what it says. */
function Effects(props: { readonly event: LoggedEvent }) {
  const { actions, errorCode, errorMessage } = props.event;
  const keys = changedKeys(props.event);
  const { rewind, compaction, transferToAgent, failure } = actions;
  return (
    <>
      {rewind && <span class="effect">Back to the moment after event {rewind.toSeq}</span>}
      {compaction && (
        <span class="effect">
          Stands for events {compaction.fromSeq} to {compaction.toSeq}
        </span>
      )}
      {transferToAgent && (
        <span class="effect">
          Hands over to <bdi>{transferToAgent}</bdi>
        </span>
      )}
      {keys.length > 0 && (
        <span class="effect">
          Sets{' '}
          {keys.slice(0, MOST_SHOWN).map((key) => (
            <code key={key}>{key}</code>
          ))}
          {keys.length > MOST_SHOWN && <em>and {(keys.length - MOST_SHOWN).toLocaleString()} more</em>}
        </span>
      )}
      {failure && <span class="effect error">{failure.reason}</span>}
      {errorCode && (
        <span class="effect error">
          {errorCode} {errorMessage}
        </span>
      )}
    </>
  );
}

/** What agents say just now. */
export function Speaking(props: { readonly log: SessionLog }) {
  return (
    <div class="speaking" aria-live="polite">
      {props.log.partials.value.map(({ id, author, text }) => (
        <div class="event agent" key={id}>
          <span class="head">
            <span class="kind">speaks</span>
            <bdi class="author">{author}</bdi>
          </span>
          <Said text={text} />
        </div>
      ))}
    </div>
  );
}
