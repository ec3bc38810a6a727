'use strict';

const { join, relative } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

const TESTS = join(__dirname, '..');

/**
 * Seconds, on two cores, of the groups and specs that take long. They need not be exact: where Jest has not measured
 * them on this machine, as on a fresh checkout, it starts the longest first, so that none runs alone in the end.
 */
const SECONDS = {
  'contract/service': 340,
  'groups/processes': 300,
  'groups/sql': 250,
  'groups/contract': 200,
  'groups/app': 180,
  'groups/summarizer': 170,
  'groups/browser': 150,
  'groups/rest': 150,
  'groups/redis': 150,
  'groups/unit': 140,
  'differential/differential': 140,
  'groups/agents': 130,
  'groups/differential': 120,
  'groups/adapters-of-agents': 120,
  'groups/adapters-of-chats': 120,
  'groups/graphql': 110,
  'groups/module': 100,
  'groups/transfer': 90,
  'processes/kill': 40,
};
const OTHERS_SECONDS = 10;

module.exports = class LongestFirst extends Sequencer {
  static SECONDS = SECONDS;

  /** How long a spec took here the last time, or else an estimate, in milliseconds. */
  time(test) {
    const name = relative(TESTS, test.path)
      .replaceAll('\\', '/')
      .replace(/\.(spec|group)\.ts$/, '');
    return super.time(test) ?? (SECONDS[name] ?? OTHERS_SECONDS) * 1_000;
  }
};
