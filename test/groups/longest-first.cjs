'use strict';

const { join, relative } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

const TESTS = join(__dirname, '..');

/**
 * Seconds, on two cores, of the groups and specs that take long. They need not be exact: where Jest has not measured
 * them on this machine, as on a fresh checkout, it starts the longest first, so that none runs alone in the end.
 */
const SECONDS = {
  'groups/agents': 300,
  'groups/sql': 250,
  'groups/app': 250,
  'groups/processes': 200,
  'groups/transfer': 200,
  'contract/service': 180,
  'groups/graphql': 150,
  'groups/unit': 150,
  'groups/module': 140,
  'groups/contract': 130,
  'groups/browser': 120,
  'groups/rest': 120,
  'groups/service': 120,
  'groups/adapters-of-agents': 110,
  'groups/redis': 100,
  'groups/adapters-of-chats': 80,
  'groups/summarizer': 60,
  'differential/differential': 50,
  'groups/differential': 40,
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
