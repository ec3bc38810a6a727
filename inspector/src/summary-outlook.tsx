import { useEffect, useState } from 'preact/hooks';
import { ProblemError } from '../../src/client/index.js';
import type { SummaryOutlook, ThresholdState } from '../../src/summarizer/summary-outlook.js';
import type { Api } from './api.js';
import { Loading, Notice } from './notices.js';
import { show } from './page-route.js';
import type { SessionLog } from './session-log.js';

/** What thresholds count, in words. */
const COUNTED: Readonly<Record<ThresholdState['kind'], string>> = {
  turns: 'messages of the user',
  events: 'events',
  contentLength: 'characters',
  tokens: 'tokens',
  idleSeconds: 'seconds without an event',
  importantLength: 'characters in the newest part',
  branchEvents: 'events of the branch',
  custom: 'a condition of the app',
};

type Answer = SummaryOutlook | 'none' | Error;

/** When the next summary comes, and what it would cover. It is read when somebody opens it, and again when the session goes on. */
export function NextSummary(props: { readonly api: Api; readonly log: SessionLog }) {
  const { api, log } = props;
  const [isOpen, setOpen] = useState(false);
  const [answer, setAnswer] = useState<Answer>();
  const version = log.session.value?.version;
  useEffect(() => {
    if (!isOpen) return undefined;
    let isLeft = false;
    void readOutlook(api, log).then((found) => {
      if (!isLeft) setAnswer(found);
    });
    return () => {
      isLeft = true;
    };
  }, [api, log, version, isOpen]);
  const covered = isOpen && answer !== 'none' && !(answer instanceof Error) ? answer?.wouldCover : undefined;
  useEffect(() => {
    log.wouldCover.value = covered;
    return () => {
      log.wouldCover.value = undefined;
    };
  }, [log, covered]);
  return (
    <details class="next-summary" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The next summary</summary>
      {isOpen && <Outlook answer={answer} />}
    </details>
  );
}

function Outlook(props: { readonly answer: Answer | undefined }) {
  const { answer } = props;
  if (answer === undefined) return <Loading what="the outlook" />;
  if (answer === 'none') return <p class="hint">This app has no routes of summaries.</p>;
  if (answer instanceof Error) return <Notice title="It could not be read">{answer.message}</Notice>;
  const { isDue, thresholds, wouldCover } = answer;
  return (
    <>
      <p>It {isDue ? 'is due' : 'is not due yet'}.</p>
      <ul>
        {thresholds.map(({ kind, value, limit, isMet }, index) => (
          <li key={index}>
            {value !== undefined && limit !== undefined && (
              <>
                {Math.round(value).toLocaleString()} of {limit.toLocaleString()}{' '}
              </>
            )}
            {COUNTED[kind]}
            {isMet && ': met'}
          </li>
        ))}
      </ul>
      {wouldCover && (
        <p class="hint">
          Made now, it would stand for events{' '}
          <button type="button" class="link" onClick={() => show({ seq: wouldCover.fromSeq })}>
            {wouldCover.fromSeq}
          </button>{' '}
          to{' '}
          <button type="button" class="link" onClick={() => show({ seq: wouldCover.toSeq })}>
            {wouldCover.toSeq}
          </button>
          . They are marked in the timeline.
        </p>
      )}
    </>
  );
}

async function readOutlook(api: Api, log: SessionLog): Promise<Answer> {
  try {
    return await api.client.getSummaryOutlook(log.key);
  } catch (error) {
    if (error instanceof ProblemError && error.status === 404) return 'none';
    return error instanceof Error ? error : new Error(String(error));
  }
}
