const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** What describes the machine, line by line. */
export function printMachine(machine) {
  for (const [name, value] of Object.entries(machine)) console.log(`${name.padEnd(10)} ${value}`);
}

/** One benchmark as a table. */
export function printTable(title, rows) {
  const table = [['', 'ours', 'raw', 'ours / raw', 'from – to', 'CPU µs, ours / raw'], ...rows.map(cellsOf)];
  const widths = table[0].map((_, column) => Math.max(...table.map((cells) => cells[column].length)));
  console.log(`\n${title}, in ${rows[0].unit}`);
  for (const cells of table) {
    const line = cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column])));
    console.log(`  ${line.join('   ')}`.trimEnd());
  }
}

function cellsOf({ what, ours, raw, ratio, lowest, highest, cpu }) {
  const spread = lowest === undefined ? '' : `${lowest.toFixed(2)} – ${highest.toFixed(2)}`;
  const costs = cpu ? `${whole.format(cpu.ours)} / ${whole.format(cpu.raw)}` : '';
  return [what, whole.format(ours), whole.format(raw), ratio.toFixed(2), spread, costs];
}
