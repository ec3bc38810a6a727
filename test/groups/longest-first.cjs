'use strict';

const { join, relative } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

const TESTS = join(__dirname, '..');

/**
 * Seconds, on two cores, of the groups and specs that take long. They need not be exact: where Jest has not measured
 * them on this machine, as on a fresh checkout, it starts the longest first, so that none runs alone in the end.
 */
const SECONDS = {
  'groups/sql': 330,
  'groups/processes': 280,
  'groups/app': 230,
  'contract/service': 170,
  'groups/summarizer': 150,
  'groups/graphql': 150,
  'groups/contract': 120,
  'groups/redis': 110,
  'groups/rest': 105,
  'groups/module': 100,
  'processes/kill': 65,
  'groups/browser': 50,
  'groups/differential': 50,
  'differential/differential': 45,
  'groups/unit': 45,
  'groups/counted': 30,
  'groups/tls': 25,
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
