import type { SeqPair } from '../../src/sessions/domain/event/model-request.js';
import type { RequestDifference } from '../../src/sessions/domain/event/request-difference.js';
import type { ModelRequestReport } from '../../src/sessions/domain/event/request-report.js';
import { show } from './page-route.js';
import { type ListedAnswer, answerText } from './request-log.js';
import { commonBeginning, countEvents } from './request-marks.js';

/** So many stretches are named: a request of hundreds says nothing to a reader. */
const MOST_RANGES = 20;

/** What changed since the request before, or since another one. */
export function RequestChange(props: {
  readonly report: ModelRequestReport;
  readonly answers: readonly ListedAnswer[];
  readonly against: number | undefined;
}) {
  const { report, answers, against } = props;
  const { seq, change } = report;
  const others = answers.filter((answer) => answer.seq !== seq);
  return (
    <section class="change" aria-label="What changed">
      <h3>What changed</h3>
      <label class="choice">
        Compared with the request for
        <select
          value={against ?? ''}
          onChange={({ currentTarget: { value } }) =>
            show({ request: seq, against: value === '' ? undefined : Number(value) })
          }
        >
          <option value="">
            {change && against === undefined ? `the answer before, ${change.seq}` : 'the answer before'}
          </option>
          {against !== undefined && !others.some((answer) => answer.seq === against) && (
            <option value={against}>{against}</option>
          )}
          {others.toReversed().map((answer) => (
            <option key={answer.seq} value={answer.seq}>
              {answerText(answer)}
            </option>
          ))}
        </select>
      </label>
      {change ? <Change report={report} change={change} /> : <p class="hint">There is no request before it.</p>}
    </section>
  );
}

function Change({ report, change }: { readonly report: ModelRequestReport; readonly change: RequestDifference }) {
  const { given } = report;
  const { stableUntilSeq, added, removed, isPromptSame, areToolsSame } = change;
  const all = countEvents(given);
  const stable = countEvents(commonBeginning(given, stableUntilSeq));
  const isSame = isPromptSame && areToolsSame;
  return (
    <>
      <dl class="changes">
        <dt>Instructions</dt>
        <dd>{isPromptSame ? 'the same' : 'changed'}</dd>
        <dt>Tools</dt>
        <dd>{areToolsSame ? 'the same' : 'changed'}</dd>
        <dt>Added</dt>
        <dd>
          <Ranges pairs={added} />
        </dd>
        <dt>Removed</dt>
        <dd>
          <Ranges pairs={removed} />
        </dd>
        <dt>Same beginning</dt>
        <dd>
          {stableUntilSeq === 0 ? (
            'none: they begin with different events'
          ) : (
            <>
              up to{' '}
              <button type="button" class="link" onClick={() => jump(stableUntilSeq)}>
                event {stableUntilSeq}
              </button>
              , {stable.toLocaleString()} of {all.toLocaleString()} events
            </>
          )}
        </dd>
      </dl>
      <meter
        min={0}
        max={Math.max(1, all)}
        value={stable}
        aria-label="Share of the events that is the same beginning"
      />
      <p class="hint">
        {isSame
          ? 'A cache of the vendor can know all up to the end of the same beginning.'
          : 'Instructions and tools come first. Where they changed, a cache of the vendor knows little or nothing of this request.'}
      </p>
      <ul class="marks-legend" aria-label="Marks in the timeline">
        <li class="mark-same">same beginning</li>
        <li class="mark-given">given</li>
        <li class="mark-added">new</li>
        <li class="mark-removed">not given any more</li>
      </ul>
    </>
  );
}

/** Stretches of the log, to go to. The request that is looked at stays. */
export function Ranges({ pairs }: { readonly pairs: readonly SeqPair[] }) {
  if (pairs.length === 0) return <>none</>;
  return (
    <>
      {pairs.slice(0, MOST_RANGES).map(([from, to], index) => (
        <span key={from}>
          {index > 0 && ', '}
          <button type="button" class="link" onClick={() => jump(from)}>
            {from === to ? from : `${from}–${to}`}
          </button>
        </span>
      ))}
      {pairs.length > MOST_RANGES && ` and ${(pairs.length - MOST_RANGES).toLocaleString()} more stretches`}
    </>
  );
}

function jump(seq: number): void {
  show({ seq });
}
