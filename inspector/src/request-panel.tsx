import { useEffect, useMemo, useState } from 'preact/hooks';
import { isAnswer } from '../../src/sessions/domain/event/event-inspection.js';
import type { ModelRequestReport } from '../../src/sessions/domain/event/request-report.js';
import { type Failure, failureOf } from './failures.js';
import { FailureNotice, Loading, Notice } from './notices.js';
import { route, show } from './page-route.js';
import { RequestChange } from './request-change.js';
import { GivenEvents, LeftOutEvents } from './request-events.js';
import { type ListedAnswer, RequestLog, answerText, chosenAnswer } from './request-log.js';
import { RequestText } from './request-text.js';
import { RequestFigures } from './request-figures.js';
import type { SessionLog } from './session-log.js';
import type { SessionReads } from './session-reads.js';

interface Props {
  readonly reads: SessionReads;
  readonly log: SessionLog;
  /** The event that is looked at. */
  readonly seq: number;
}

/** What a model was given for an answer, and what changed since the request before. */
export function RequestPanel({ reads, log, seq }: Props) {
  const [, setChanges] = useState(0);
  const found = useMemo(() => new RequestLog(reads, log, () => setChanges((count) => count + 1)), [reads, log]);
  useEffect(() => () => found.close(), [found]);
  const last = log.lastSeq.value;
  useEffect(() => void found.follow(last), [found, last]);
  const { answers, failure, isReading, isWhole } = found;
  const { request, against } = route.value;
  const chosen = chosenAnswer(answers, request, seq);
  // The list begins with the newest ones.
  const isBefore = !isWhole && answers[0] !== undefined && seq < answers[0].seq;
  useEffect(() => {
    if (isBefore && !isReading) void found.readOlder();
  }, [found, isBefore, answers.length]);
  if (failure) return <FailureNotice failure={failure} onRetry={() => void found.follow(last)} />;
  if (chosen === undefined) {
    if (isReading) return <Loading what="the requests" />;
    return isWhole ? <NoRequests /> : <Further found={found} />;
  }
  return (
    <div class="request">
      <Choice answers={answers} chosen={chosen} seq={seq} log={log} />
      {!isWhole && <Further found={found} />}
      <Request key={chosen} reads={reads} log={log} answers={answers} chosen={chosen} against={against} />
    </div>
  );
}

function NoRequests() {
  return (
    <Notice title="No answer says what its model was given">
      <p>
        Agents that ask with <code>context.request</code> write it, and so does whoever appends an answer with{' '}
        <code>modelRequest</code>: see “What a model was given” in the docs. The tab “View” shows what it would be given
        now.
      </p>
    </Notice>
  );
}

function Further({ found }: { readonly found: RequestLog }) {
  return (
    <p class="extent">
      <button type="button" disabled={found.isReading} onClick={() => void found.readOlder()}>
        {found.isReading ? 'Looking …' : 'Look for earlier requests'}
      </button>
    </p>
  );
}

/** Chooses a request by its answer. */
function Choice(props: {
  readonly answers: readonly ListedAnswer[];
  readonly chosen: number;
  readonly seq: number;
  readonly log: SessionLog;
}) {
  const { answers, chosen, seq, log } = props;
  const event = log.eventAt(seq);
  return (
    <>
      <label class="choice">
        Request for the answer
        <select
          value={chosen}
          onChange={({ currentTarget }) => {
            const answer = Number(currentTarget.value);
            show({ seq: answer, request: answer, against: undefined });
          }}
        >
          {!answers.some((answer) => answer.seq === chosen) && <option value={chosen}>{chosen}</option>}
          {answers.toReversed().map((answer) => (
            <option key={answer.seq} value={answer.seq}>
              {answerText(answer)}
            </option>
          ))}
        </select>
      </label>
      {seq !== chosen && event && isAnswer(event) && (
        <p class="hint">
          Event {seq} is an answer, too.{' '}
          <button type="button" class="link" onClick={() => show({ request: seq, against: undefined })}>
            Show its request
          </button>
        </p>
      )}
    </>
  );
}

function Request(props: {
  readonly reads: SessionReads;
  readonly log: SessionLog;
  readonly answers: readonly ListedAnswer[];
  readonly chosen: number;
  readonly against: number | undefined;
}) {
  const { reads, log, answers, chosen, against } = props;
  const [report, setReport] = useState<ModelRequestReport>();
  const [failure, setFailure] = useState<Failure>();
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isLeft = false;
    reads.getModelRequest({ ...log.key, seq: chosen, since: against }).then(
      (found) => {
        if (isLeft) return;
        setReport(found);
        log.request.value = found;
        setFailure(found ? undefined : missing(chosen));
      },
      (error: unknown) => {
        if (!isLeft) setFailure(failureOf(error));
      },
    );
    return () => {
      isLeft = true;
    };
  }, [reads, log, chosen, against, tries]);
  useEffect(
    () => () => {
      log.request.value = undefined;
    },
    [log],
  );
  return (
    <>
      {failure && <FailureNotice failure={failure} onRetry={() => setTries(tries + 1)} />}
      {against !== undefined && failure && (
        <button type="button" onClick={() => show({ against: undefined })}>
          Compare with the request before
        </button>
      )}
      {!report && !failure && <Loading what="the request" />}
      {report && (
        <>
          <RequestFigures report={report} />
          <RequestChange report={report} answers={answers} against={against} />
          <GivenEvents log={log} report={report} />
          <LeftOutEvents reads={reads} log={log} report={report} />
          <RequestText title="Instructions" text={report.instructions} />
          <RequestText title="Tools" text={report.tools} />
        </>
      )}
    </>
  );
}

function missing(seq: number): Failure {
  return { kind: 'missing', title: 'Not known', detail: `Event ${seq} does not say what its model was given.` };
}
