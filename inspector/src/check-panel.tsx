import { useEffect, useState } from 'preact/hooks';
import { FINDINGS } from '../../src/doctor/findings.js';
import type { Api } from './api.js';
import { type Failure, failureOf } from './failures.js';
import { LogCheck, type LogVerdict } from './log-check.js';
import { FailureNotice, Notice } from './notices.js';
import type { Progress } from './progress.js';
import { ReadingProgress } from './reading-progress.js';
import type { SessionLog } from './session-log.js';

/** Reads the whole log when it is asked to, and says what is wrong with it. */
export function CheckPanel(props: { readonly api: Api; readonly log: SessionLog }) {
  const { api, log } = props;
  const [running, setRunning] = useState<AbortController>();
  const [progress, setProgress] = useState<Progress>({ read: 0, total: 0 });
  const [verdict, setVerdict] = useState<LogVerdict>();
  const [failure, setFailure] = useState<Failure>();
  useEffect(() => () => running?.abort(), [running]);
  const run = async (): Promise<void> => {
    const leave = new AbortController();
    setRunning(leave);
    setVerdict(undefined);
    setFailure(undefined);
    try {
      setVerdict(await new LogCheck(api.client, log.key, setProgress, leave.signal).run());
    } catch (error) {
      if (!leave.signal.aborted) setFailure(failureOf(error));
    } finally {
      setRunning(undefined);
    }
  };
  return (
    <div class="check">
      <p>
        Reads all events, and judges them as <code>agent-sessions verify</code> does: whether one is missing, whether
        tool calls and responses belong together, and whether the state is what the events say.
      </p>
      {!running && (
        <button type="button" class="primary" onClick={() => void run()}>
          Check the log
        </button>
      )}
      {running && <ReadingProgress progress={progress} onCancel={() => running.abort()} />}
      {failure && <FailureNotice failure={failure} onRetry={() => void run()} />}
      {verdict && <Verdict verdict={verdict} />}
      <p class="hint">
        What lies beside the log in the store is judged by <code>npx agent-sessions verify</code> only.
      </p>
    </div>
  );
}

function Verdict(props: { readonly verdict: LogVerdict }) {
  const { events, notes } = props.verdict;
  if (notes.length === 0) return <Notice title={`Nothing is wrong with ${events.toLocaleString()} events`} />;
  return (
    <ul class="findings" aria-label="Findings">
      {notes.map(({ code, detail }, index) => (
        <li key={index} class={FINDINGS[code].severity}>
          <strong>{code}</strong> {FINDINGS[code].meaning}: <bdi>{detail}</bdi>
        </li>
      ))}
    </ul>
  );
}
