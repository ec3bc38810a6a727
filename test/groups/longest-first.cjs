'use strict';

const { join, relative } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

const TESTS = join(__dirname, '..');

/**
 * Seconds, on two cores, of the groups and specs that take long. They need not be exact: where Jest has not measured
 * them on this machine, as on a fresh checkout, it starts the longest first, so that none runs alone in the end.
 */
const SECONDS = {
  'groups/processes': 160,
  'groups/sql': 150,
  'groups/graphql': 85,
  'groups/app': 85,
  'groups/redis': 85,
  'contract/service': 80,
  'groups/summarizer': 75,
  'groups/rest': 75,
  'groups/contract': 70,
  'groups/module': 50,
  'groups/browser': 50,
  'groups/agents': 45,
  'groups/unit': 40,
  'groups/differential': 35,
  'processes/kill': 25,
  'groups/service': 25,
  'groups/counted': 25,
  'differential/differential': 20,
  'groups/docs': 15,
  'groups/tls': 25,
  'groups/sqlite': 25,
  'groups/architecture': 20,
  'groups/servers': 15,
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
