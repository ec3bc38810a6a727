import type { TokenUsage } from '../../src/client/index.js';
import { type Bar, BarChart } from './bar-chart.js';
import { show } from './page-route.js';
import { duration, figureText } from './times.js';
import type { TurnFigures } from './turn-usage.js';

/** The figures of some turns, as bars and as a table. */
interface TurnChartProps {
  readonly turns: readonly TurnFigures[];
  /** The event that is looked at. Its turn is marked. */
  readonly seq: number;
}

/** A part of the bars, and its column of the table. */
interface Column {
  readonly kind: string;
  readonly title: string;
  readonly valueOf: (turn: TurnFigures) => number | undefined;
}

/** The kinds of tokens, from below. Those that came from a cache are the cheap part of a prompt. */
const TOKENS: readonly Column[] = [
  { kind: 'cached', title: 'Cached', valueOf: ({ usage }) => cachedOf(usage) },
  { kind: 'prompt', title: 'Prompt', valueOf: ({ usage }) => usage.promptTokens - cachedOf(usage) },
  { kind: 'tool-use', title: 'Tool use', valueOf: ({ usage }) => usage.toolUseTokens },
  { kind: 'thinking', title: 'Thinking', valueOf: ({ usage }) => usage.thinkingTokens },
  { kind: 'output', title: 'Output', valueOf: ({ usage }) => usage.outputTokens },
];

const ALL_TOKENS: Column = { kind: 'all', title: 'All', valueOf: ({ usage }) => usage.totalTokens };

const TIMES: readonly Column[] = [
  { kind: 'first-answer', title: 'First answer', valueOf: ({ firstAnswerMs }) => firstAnswerMs },
  { kind: 'rest', title: 'After it', valueOf: restMs },
];

const WHOLE_TURN: Column = { kind: 'all', title: 'Whole turn', valueOf: ({ wholeMs }) => wholeMs };

export function TokenChart({ turns, seq }: TurnChartProps) {
  // What no model reports is left out.
  const columns = TOKENS.filter(({ valueOf }) => turns.some((turn) => valueOf(turn) !== 0));
  return (
    <TurnChart
      title="Tokens by turn"
      hint="A prompt is counted without its cached part."
      turns={turns}
      seq={seq}
      columns={columns}
      sum={ALL_TOKENS}
      text={(tokens) => tokens.toLocaleString()}
      axisText={(tokens) => tokens.toLocaleString(undefined, { notation: 'compact' })}
    />
  );
}

export function LatencyChart({ turns, seq }: TurnChartProps) {
  return (
    <TurnChart
      title="Time by turn"
      hint="From the user’s message to the first answer and to the last event, without what the user took in between."
      turns={turns}
      seq={seq}
      columns={TIMES}
      sum={WHOLE_TURN}
      text={duration}
      axisText={duration}
    />
  );
}

function TurnChart(
  props: TurnChartProps & {
    readonly title: string;
    readonly hint: string;
    readonly columns: readonly Column[];
    readonly sum: Column;
    readonly text: (value: number) => string;
    readonly axisText: (value: number) => string;
  },
) {
  const { title, hint, turns, seq, columns, sum, text, axisText } = props;
  const cells = [...columns, sum];
  const isChosen = ({ fromSeq, toSeq }: TurnFigures): boolean => fromSeq <= seq && seq <= toSeq;
  const bars = turns.map((turn): Bar => {
    const figures = cells.map(({ title: name, valueOf }) => `${name}: ${figureText(valueOf(turn), text)}`);
    return {
      title: [`Events ${rangeOf(turn)}`, ...figures].join('\n'),
      parts: columns.map(({ valueOf }) => valueOf(turn) ?? 0),
      isChosen: isChosen(turn),
      onChoose: () => choose(turn),
    };
  });
  return (
    <section class="by-turn" aria-label={title}>
      <header>
        <h3>{title}</h3>
        <ul class="legend" aria-hidden="true">
          {columns.map(({ kind, title: name }) => (
            <li key={kind} class={kind}>
              {name}
            </li>
          ))}
        </ul>
      </header>
      <BarChart bars={bars} kinds={columns.map(({ kind }) => kind)} text={axisText} />
      <details>
        <summary>As a table</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">Events</th>
              {cells.map(({ kind, title: name }) => (
                <th key={kind} scope="col" class={kind}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {turns.map((turn) => (
              <tr key={turn.fromSeq} class={isChosen(turn) ? 'chosen' : ''}>
                <th scope="row">
                  <button type="button" class="link" onClick={() => choose(turn)}>
                    {rangeOf(turn)}
                  </button>
                </th>
                {cells.map(({ kind, valueOf }) => (
                  <td key={kind}>{figureText(valueOf(turn), text)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        <p class="hint">{hint}</p>
      </details>
    </section>
  );
}

function choose({ fromSeq }: TurnFigures): void {
  show({ seq: fromSeq });
}

function rangeOf({ fromSeq, toSeq }: TurnFigures): string {
  return fromSeq === toSeq ? fromSeq.toLocaleString() : `${fromSeq.toLocaleString()}–${toSeq.toLocaleString()}`;
}

function restMs({ wholeMs, firstAnswerMs = 0 }: TurnFigures): number | undefined {
  return wholeMs === undefined ? undefined : Math.max(0, wholeMs - firstAnswerMs);
}

function cachedOf({ cachedTokens, promptTokens }: TokenUsage): number {
  return Math.min(cachedTokens, promptTokens);
}
