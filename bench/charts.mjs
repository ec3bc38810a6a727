/** Charts as SVG text: lines on a logarithmic scale, and bars. */

const WIDTH = 760;
const ROW = 26;
const COLOURS = ['#0b6e4f', '#c0392b', '#d68910', '#7d3c98', '#2471a3', '#616a6b', '#a04000'];
const TEXT = 'font-family="system-ui, sans-serif" font-size="13"';
const number = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 });

/** @typedef {{ label: string, points: readonly (readonly [x: number, y: number])[] }} Line */

/**
 * Lines over a linear x and a logarithmic y, each with its label at the right.
 *
 * @param {{ title: string, xTitle: string, yTitle: string, lines: readonly Line[] }} chart
 * @returns {string}
 */
export function lineChart({ title, xTitle, yTitle, lines }) {
  const [left, top, right, bottom] = [88, 62, 520, 346];
  const points = lines.flatMap((line) => line.points);
  const highestX = Math.max(...points.map(([x]) => x));
  const powers = powersOf(points.map(([, y]) => y));
  const placeX = (x) => round(left + (x / highestX) * (right - left));
  const lowest = powers[0];
  const placeY = (y) => round(bottom - ((Math.log10(y) - lowest) / (powers.at(-1) - lowest)) * (bottom - top));
  const labels = spread(lines.map(({ points: own }) => placeY(own.at(-1)[1])));
  const parts = [
    ...powers.map((power) => {
      const y = placeY(10 ** power);
      return `<path d="M${left} ${y}H${right}" stroke="#ddd"/>${textAt(left - 8, y + 4, number.format(10 ** power), 'end')}`;
    }),
    ...[0, highestX / 2, highestX].map((x) => textAt(placeX(x), bottom + 20, number.format(x), 'middle')),
    textAt((left + right) / 2, bottom + 40, xTitle, 'middle'),
    textAt(left, top - 10, yTitle, 'start'),
    ...lines.map(({ label, points: own }, index) => {
      const colour = COLOURS[index % COLOURS.length];
      const path = own.map(([x, y], place) => `${place === 0 ? 'M' : 'L'}${placeX(x)} ${placeY(y)}`).join('');
      const end = own.at(-1);
      return [
        `<path d="${path}" fill="none" stroke="${colour}" stroke-width="${index === 0 ? 3 : 2}"/>`,
        `<circle cx="${placeX(end[0])}" cy="${placeY(end[1])}" r="4" fill="${colour}"/>`,
        `<path d="M${placeX(end[0])} ${placeY(end[1])}L${right + 6} ${labels[index]}" stroke="${colour}" stroke-opacity=".3"/>`,
        `<text x="${right + 10}" y="${labels[index] + 4}" ${TEXT} fill="${colour}">${escaped(label)}</text>`,
      ].join('');
    }),
  ];
  return framed(title, bottom + 56, parts);
}

/**
 * A horizontal bar for each figure, with the figure beside it.
 *
 * @param {{ title: string, bars: readonly { label: string, value: number, text: string, isOurs?: boolean }[] }} chart
 * @returns {string}
 */
export function barChart({ title, bars }) {
  const [left, top, right] = [330, 46, 640];
  const highest = Math.max(...bars.map(({ value }) => value), 1);
  const parts = bars.map(({ label, value, text, isOurs }, index) => {
    const y = top + index * ROW;
    const width = round((value / highest) * (right - left));
    return [
      textAt(left - 10, y + 14, label, 'end'),
      `<rect x="${left}" y="${y}" width="${Math.max(width, 1)}" height="${ROW - 8}" fill="${isOurs ? COLOURS[0] : '#95a5a6'}"/>`,
      textAt(left + Math.max(width, 1) + 8, y + 14, text, 'start'),
    ].join('');
  });
  return framed(title, top + bars.length * ROW + 12, parts);
}

function framed(title, height, parts) {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}">`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    `<text x="16" y="24" font-family="system-ui, sans-serif" font-size="16" font-weight="600">${escaped(title)}</text>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}

/** The powers of ten around the values. */
function powersOf(values) {
  const first = Math.floor(Math.log10(Math.min(...values)));
  const last = Math.ceil(Math.log10(Math.max(...values)));
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** Moves labels apart that are so close that they overlap, from the top down. */
function spread(places) {
  const order = places.map((place, index) => ({ place, index })).sort((a, b) => a.place - b.place);
  const moved = [];
  let free = -Infinity;
  for (const { place, index } of order) {
    moved[index] = Math.max(place, free);
    free = moved[index] + 17;
  }
  return moved;
}

function textAt(x, y, text, anchor) {
  return `<text x="${x}" y="${y}" ${TEXT} text-anchor="${anchor}" fill="#333">${escaped(text)}</text>`;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

function round(value) {
  return Math.round(value * 10) / 10;
}
