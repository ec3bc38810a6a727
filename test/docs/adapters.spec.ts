import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RESULTS, type SuiteResult } from '../adapters/support/describe-suite.js';

/** The script that writes the pages. It has no types. */
interface Script {
  adapterPages(): readonly { readonly file: string; readonly text: string; readonly expected: string }[];
  oldestPeers(): readonly string[];
}

const script = join(__dirname, '../../docs/adapters-table.mjs');

describe('The table of adapters', () => {
  it('matches the results of their suites (npm run docs:adapters -- --table updates it)', async () => {
    const { adapterPages } = (await import(script)) as Script;
    const pages = adapterPages();
    expect(pages.map(({ file }) => file)).toEqual(['test/adapters/README.md']);
    for (const { text, expected } of pages) expect(text).toBe(expected);
  });

  it('has the oldest version that package.json allows of each framework (npm run docs:adapters -- --oldest)', async () => {
    const { oldestPeers } = (await import(script)) as Script;
    const judged = new Set(resultsIn(RESULTS).map(({ peer }) => peer));
    const allowed = oldestPeers().filter((peer) => judged.has(peer.slice(0, peer.lastIndexOf('@'))));
    const shown = resultsIn(RESULTS.replace('.ndjson', '-oldest.ndjson')).map(
      ({ peer, version }) => `${peer}@${version}`,
    );
    expect([...new Set(shown)].toSorted()).toEqual(allowed.toSorted());
  });

  it('has the newest major that package.json allows, also if it needs a newer Node (npm run docs:adapters -- --next)', () => {
    const { peerDependencies } = JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8')) as {
      peerDependencies: Record<string, string>;
    };
    const judged = [RESULTS, RESULTS.replace('.ndjson', '-next.ndjson')].flatMap(resultsIn);
    for (const { peer } of judged) {
      const highest = Number(/\^(\d+)[\d.]*$/.exec(peerDependencies[peer] ?? '')?.[1]);
      const versions = judged.filter((one) => one.peer === peer).map(({ version }) => Number.parseInt(version, 10));
      expect([peer, Math.max(...versions)]).toEqual([peer, highest]);
    }
  });
});

function resultsIn(file: string): SuiteResult[] {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as SuiteResult);
}
