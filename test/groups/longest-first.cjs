'use strict';

const { join, relative } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');
const layer = require('./layer.cjs');

const TESTS = join(__dirname, '..');

/**
 * Seconds, on two cores, of the groups and specs that take long. They need not be exact: where Jest has not measured
 * them on this machine, as on a fresh checkout, it starts the longest first, so that none runs alone in the end.
 */
const SECONDS = {
  'groups/browser': 340,
  'groups/app': 320,
  'groups/processes': 310,
  'groups/sql': 290,
  'groups/unit': 250,
  'contract/service': 200,
  'groups/transfer': 195,
  'groups/rest': 195,
  'groups/adapters-of-agents': 195,
  'groups/graphql': 180,
  'groups/agents': 150,
  'groups/module': 130,
  'groups/contract': 100,
  'groups/redis': 100,
  'groups/adapters-of-chats': 80,
  'groups/summarizer': 60,
  'groups/service': 50,
  'differential/differential': 50,
  'groups/differential': 40,
  'processes/kill': 40,
};
const OTHERS_SECONDS = 10;

module.exports = class LongestFirst extends Sequencer {
  static SECONDS = SECONDS;

  /**
   * How long a spec took here the last time, or else an estimate, in milliseconds. Outside the fast layer at least the
   * estimate: the last time may have been in that layer.
   */
  time(test) {
    const measured = super.time(test);
    const estimate = estimateOf(test) * 1_000;
    if (measured === undefined) return estimate;
    return layer.isFast ? measured : Math.max(measured, estimate);
  }

  /** Parts that take about as long as each other. Only estimates decide, so that all machines make the same parts. */
  shard(tests, { shardIndex, shardCount }) {
    const parts = Array.from({ length: shardCount }, () => ({ tests: [], seconds: 0 }));
    const ordered = [...tests].sort((a, b) => estimateOf(b) - estimateOf(a) || (a.path < b.path ? -1 : 1));
    for (const test of ordered) {
      const shortest = parts.reduce((least, part) => (part.seconds < least.seconds ? part : least));
      shortest.tests.push(test);
      shortest.seconds += estimateOf(test);
    }
    return parts[shardIndex - 1].tests;
  }
};

/** In seconds. */
function estimateOf({ path }) {
  const name = relative(TESTS, path)
    .replaceAll('\\', '/')
    .replace(/\.(spec|group)\.ts$/, '');
  return SECONDS[name] ?? OTHERS_SECONDS;
}
