/** One bar: its parts from below. */
export interface Bar {
  readonly title: string;
  readonly parts: readonly number[];
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

/** So many bars have room at least, so that a few of them are not blocks. */
const FEWEST_SLOTS = 12;
const HEIGHT = 100;
const SIDE = 0.14;
/** The ends of an axis that can be read, and halved. */
const ROUND = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10];

/**
 * Bars that stand for the rows of a table. Those who do not see them have that table, so they are hidden from them.
 *
 * @param props.kinds what the parts of each bar are, as classes of the style
 * @param props.text of a value at the axis
 */
export function BarChart(props: {
  readonly bars: readonly Bar[];
  readonly kinds: readonly string[];
  readonly text: (value: number) => string;
}) {
  const { bars, kinds, text } = props;
  const top = roundEnd(Math.max(0, ...bars.map(({ parts }) => sumOf(parts))));
  const slots = Math.max(FEWEST_SLOTS, bars.length);
  return (
    <div class="chart" aria-hidden="true">
      <div class="axis">
        {[top, top / 2, 0].map((value) => (
          <span key={value}>{text(value)}</span>
        ))}
      </div>
      <svg viewBox={`0 0 ${slots} ${HEIGHT}`} preserveAspectRatio="none">
        {[0, HEIGHT / 2, HEIGHT].map((y) => (
          <line key={y} x1={0} x2={slots} y1={y} y2={y} />
        ))}
        {bars.map((bar, index) => (
          <g key={index} class={bar.isChosen ? 'turn-bar chosen' : 'turn-bar'} onClick={bar.onChoose}>
            <title>{bar.title}</title>
            <rect class="ground" x={index} width={1} y={0} height={HEIGHT} />
            {kinds.map((kind, part) => {
              const height = ((bar.parts[part] ?? 0) / top) * HEIGHT;
              const below = (sumOf(bar.parts.slice(0, part)) / top) * HEIGHT;
              return (
                <rect
                  key={kind}
                  class={kind}
                  x={index + SIDE}
                  width={1 - 2 * SIDE}
                  y={HEIGHT - below - height}
                  height={height}
                />
              );
            })}
          </g>
        ))}
      </svg>
    </div>
  );
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function roundEnd(most: number): number {
  if (most <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return (ROUND.find((step) => step * power >= most) ?? 10) * power;
}
