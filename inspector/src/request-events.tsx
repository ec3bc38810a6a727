import { useEffect, useState } from 'preact/hooks';
import { listEventTexts } from '../../src/sessions/domain/event/event-inspection.js';
import type { LoggedEvent } from '../../src/sessions/domain/event/event.js';
import type { SeqPair } from '../../src/sessions/domain/event/model-request.js';
import type { ModelRequestReport } from '../../src/sessions/domain/event/request-report.js';
import type { ExplainedEvent } from '../../src/sessions/operations/explain-view.js';
import { kindOf } from './event-kinds.js';
import { shortJson } from './event-parts.js';
import { type Failure, failureOf } from './failures.js';
import { FailureNotice, Loading } from './notices.js';
import { show } from './page-route.js';
import { countEvents, leftOutOf } from './request-marks.js';
import type { SessionLog } from './session-log.js';
import { type SessionReads, explainedEvents } from './session-reads.js';

/** So many events are listed before more are asked for. */
const STEP = 100;
/** So many events before the answer are explained before more are asked for. */
const EXPLAINED = 1_000;
const MOST_CHARACTERS = 80;

/** The events that the model was given, in the order in which it got them. */
export function GivenEvents({ log, report }: { readonly log: SessionLog; readonly report: ModelRequestReport }) {
  const { given, isExact, seq: answer } = report;
  const [most, setMost] = useState(STEP);
  const all = countEvents(given);
  const seqs = firstOf(given, most);
  const [least, greatest] = [Math.min(...seqs), Math.max(...seqs)];
  void log.revision.value;
  useEffect(() => {
    if (seqs.length > 0) log.need(least, greatest);
  }, [log, least, greatest]);
  return (
    <details open>
      <summary>
        Given: {all.toLocaleString()} {all === 1 ? 'event' : 'events'}
      </summary>
      {!isExact && (
        <p class="hint">
          These are about the events: the exact ones were too many to write down, or some are not here.
        </p>
      )}
      <ol class="given-events">
        {seqs.map((seq) => (
          <li key={seq}>
            <button type="button" onClick={() => show({ seq, request: answer })}>
              <span class="seq">{seq}</span>
              <Line event={log.eventAt(seq)} isMissing={log.isMissing(seq)} />
            </button>
          </li>
        ))}
      </ol>
      {all > most && (
        <button type="button" onClick={() => setMost(most + STEP)}>
          Show {Math.min(STEP, all - most).toLocaleString()} more
        </button>
      )}
    </details>
  );
}

function Line({ event, isMissing }: { readonly event: LoggedEvent | undefined; readonly isMissing: boolean }) {
  if (!event) return <span>{isMissing ? 'is not in the log' : '…'}</span>;
  return (
    <>
      <span class="kind">{kindOf(event)}</span>
      <bdi class="text">{excerptOf(event)}</bdi>
    </>
  );
}

function excerptOf(event: LoggedEvent): string {
  const [text = ''] = listEventTexts(event);
  const part = event.content?.parts?.find(({ functionCall, functionResponse }) => functionCall ?? functionResponse);
  const { name = '', ...rest } = part?.functionCall ?? part?.functionResponse ?? {};
  const said =
    text === '' && part
      ? `${name} ${shortJson('args' in rest ? rest.args : 'response' in rest ? rest.response : {})}`
      : text;
  return said.length > MOST_CHARACTERS ? `${said.slice(0, MOST_CHARACTERS)} …` : said;
}

/** The first events of these ranges, one by one. */
function firstOf(pairs: readonly SeqPair[], most: number): number[] {
  const seqs: number[] = [];
  for (const [from, to] of pairs) {
    for (let seq = from; seq <= to; seq++) {
      if (seqs.length >= most) return seqs;
      seqs.push(seq);
    }
  }
  return seqs;
}

/** The events before the answer that the model was not given, and why. */
export function LeftOutEvents(props: {
  readonly reads: SessionReads;
  readonly log: SessionLog;
  readonly report: ModelRequestReport;
}) {
  const { reads, log, report } = props;
  const first = log.firstSeq.value;
  const [isOpen, setOpen] = useState(false);
  const [wanted, setFrom] = useState(report.seq - EXPLAINED);
  const from = Math.max(first, wanted);
  const [events, setEvents] = useState<readonly ExplainedEvent[]>();
  const [failure, setFailure] = useState<Failure>();
  const [tries, setTries] = useState(0);
  useEffect(() => {
    if (!isOpen) return undefined;
    let isLeft = false;
    const read = async (): Promise<void> => {
      const found: ExplainedEvent[] = [];
      const part = { ...log.key, atSeq: report.seq - 1, fromSeq: from, limit: EXPLAINED };
      if (from < report.seq) for await (const page of explainedEvents(reads, part)) found.push(...page);
      if (!isLeft) setEvents(found);
      if (!isLeft) setFailure(undefined);
    };
    read().catch((error: unknown) => {
      if (!isLeft) setFailure(failureOf(error));
    });
    return () => {
      isLeft = true;
    };
  }, [reads, log, report.seq, from, isOpen, tries]);
  const runs = events && leftOutOf(report, events);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Not given, and why</summary>
      {failure && <FailureNotice failure={failure} onRetry={() => setTries(tries + 1)} />}
      {!runs && !failure && <Loading what="the reasons" />}
      {runs?.length === 0 && (
        <p>None: the model was given all events{from > first ? ` from ${from}` : ''} before its answer.</p>
      )}
      {runs && runs.length > 0 && (
        <>
          <ul class="left-out">
            {runs.map((run) => (
              <li key={run.from}>
                <button type="button" class="link" onClick={() => show({ seq: run.from, request: report.seq })}>
                  {run.from === run.to ? `Event ${run.from}` : `Events ${run.from}–${run.to}`}
                </button>
                : {run.why}
              </li>
            ))}
          </ul>
          <p class="hint">
            The reasons are those of the view {reads.isCopy ? 'when the copy was made' : 'just before the answer'}.
          </p>
        </>
      )}
      {from > first && (
        <button type="button" onClick={() => setFrom(from - EXPLAINED)}>
          Look at the events before {from}
        </button>
      )}
    </details>
  );
}
