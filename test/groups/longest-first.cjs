'use strict';

const { join, relative } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

const TESTS = join(__dirname, '..');

/**
 * Seconds, on two cores, of the groups and specs that take long. They need not be exact: where Jest has not measured
 * them on this machine, as on a fresh checkout, it starts the longest first, so that none runs alone in the end.
 */
const SECONDS = {
  'groups/sql': 210,
  'groups/processes': 150,
  'groups/graphql': 105,
  'groups/summarizer': 100,
  'contract/service': 95,
  'groups/redis': 85,
  'groups/app': 80,
  'groups/contract': 75,
  'groups/module': 70,
  'groups/rest': 70,
  'groups/differential': 55,
  'groups/unit': 50,
  'processes/kill': 45,
  'differential/differential': 45,
  'groups/browser': 40,
  'groups/service': 35,
  'groups/docs': 30,
  'groups/counted': 30,
  'groups/agents': 50,
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
