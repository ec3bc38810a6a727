import { useEffect, useMemo, useState } from 'preact/hooks';
import type { UsageReport } from '../../src/client/index.js';
import { knownCost } from '../../src/sessions/domain/usage/usage-cost.js';
import type { Api } from './api.js';
import { roughAmountOf, useCountedUsage } from './counted-usage.js';
import { FiguresLog } from './figures-log.js';
import { ModelTable } from './model-table.js';
import { FailureNotice, Loading, Notice } from './notices.js';
import type { SessionLog } from './session-log.js';
import type { SessionReads } from './session-reads.js';
import { duration } from './times.js';
import { LatencyChart, TokenChart } from './turn-charts.js';
import { type LogFigures, figuresOf, spreadOf } from './turn-usage.js';

/** So many turns stand side by side: more could not be told apart. */
const MOST_TURNS = 40;

/** Tokens, cost and time, by turn and by model. */
export function ChartsPanel(props: {
  readonly reads: SessionReads;
  /** Knows the prices. A copy of a session has none. */
  readonly api: Api | undefined;
  readonly log: SessionLog;
  /** The event that is looked at. */
  readonly seq: number;
}) {
  const { reads, api, log, seq } = props;
  const [, setChanges] = useState(0);
  const read = useMemo(() => new FiguresLog(reads, log, () => setChanges((count) => count + 1)), [reads, log]);
  useEffect(() => () => read.close(), [read]);
  const last = log.lastSeq.value;
  useEffect(() => void read.follow(last), [read, last]);
  const counted = useCountedUsage(api, log.key, last);
  const report = counted && 'report' in counted ? counted.report : undefined;
  const { events, isWhole, failure } = read;
  const figures = useMemo(() => figuresOf(events, { isWhole }), [events, isWhole]);
  if (last < log.firstSeq.value) return <Notice title="No events yet" />;
  return (
    <div class="charts">
      {failure && <FailureNotice failure={failure} onRetry={() => void read.follow(last)} />}
      {events.length === 0 && !failure && <Loading what="the figures" />}
      {events.length > 0 && (
        <>
          <Headline figures={figures} report={report} />
          {!isWhole && <Extent read={read} all={last - log.firstSeq.value + 1} />}
          {figures.models.length > 0 && <ModelTable figures={figures} report={report} />}
          {counted && 'failure' in counted && <p class="hint">No cost: {counted.failure.detail}</p>}
          <Turns figures={figures} seq={seq} />
        </>
      )}
    </div>
  );
}

/** What one asks for first. */
function Headline(props: { readonly figures: LogFigures; readonly report: UsageReport | undefined }) {
  const { turns, total } = props.figures;
  const priced = props.report?.models.filter(({ costMicros }) => costMicros !== undefined) ?? [];
  const answer = spreadOf(turns.flatMap(({ firstAnswerMs }) => firstAnswerMs ?? [])).medianMs;
  const whole = spreadOf(turns.flatMap(({ wholeMs }) => wholeMs ?? [])).medianMs;
  const figures = [
    ['Turns', turns.length.toLocaleString()],
    total.events > 0 && ['Tokens', shortCount(total.totalTokens)],
    priced.length > 0 && ['Cost', roughAmountOf(knownCost(priced))],
    answer !== undefined && ['Median answer', duration(answer)],
    whole !== undefined && ['Median turn', duration(whole)],
  ].filter((each) => each !== false);
  return (
    <dl class="headline">
      {figures.map(([name, figure]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{figure}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Millions are shortened: the tables have them as they are. */
function shortCount(count: number): string {
  return count.toLocaleString(undefined, count < 1_000_000 ? {} : { notation: 'compact', maximumFractionDigits: 1 });
}

/** How much of a long log was read, and a way to read more. */
function Extent(props: { readonly read: FiguresLog; readonly all: number }) {
  const { read, all } = props;
  const count = read.events.length;
  const more = Math.min(count, all - count);
  return (
    <p class="extent">
      <span role="status">
        The newest {count.toLocaleString()} of {all.toLocaleString()} events.
      </span>{' '}
      <button type="button" disabled={read.isReading} onClick={() => void read.readOlder(more)}>
        {read.isReading ? 'Reading …' : `Read ${more.toLocaleString()} more`}
      </button>
    </p>
  );
}

/** Some turns of many. The newest are followed until one looks further back. */
function Turns(props: { readonly figures: LogFigures; readonly seq: number }) {
  const { figures, seq } = props;
  const { turns, total } = figures;
  const [newer, setNewer] = useState(0);
  const end = Math.max(turns.length - newer, Math.min(MOST_TURNS, turns.length));
  const start = Math.max(0, end - MOST_TURNS);
  const shown = turns.slice(start, end);
  if (shown.length === 0) return <Notice title="No turn was read as a whole" />;
  return (
    <>
      {turns.length > MOST_TURNS && (
        <nav class="pages" aria-label="Turns">
          <button type="button" disabled={start === 0} onClick={() => setNewer(newer + MOST_TURNS)}>
            Earlier
          </button>
          <span>
            Turns {(start + 1).toLocaleString()} to {end.toLocaleString()} of {turns.length.toLocaleString()}
          </span>
          <button
            type="button"
            disabled={end === turns.length}
            onClick={() => setNewer(Math.max(0, newer - MOST_TURNS))}
          >
            Later
          </button>
        </nav>
      )}
      {total.events > 0 ? <TokenChart turns={shown} seq={seq} /> : <NoTokens />}
      <LatencyChart turns={shown} seq={seq} />
    </>
  );
}

function NoTokens() {
  return (
    <Notice title="No event reports tokens">
      <p>
        Agents report them in <code>usageMetadata</code>, and their model in <code>modelVersion</code>. What is counted,
        and where prices come from, is in the docs under “Tokens and cost”.
      </p>
    </Notice>
  );
}
