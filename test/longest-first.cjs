'use strict';

const { relative } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * Seconds, on two cores, of the specs that take long. They need not be exact: where Jest has not measured a spec on
 * this machine, as on a fresh checkout, it starts the longest first, so that none of them runs alone in the end.
 */
const SECONDS = {
  'contract/service': 110,
  'processes/kill': 55,
  'sql/host-data-source': 55,
  'differential/differential': 50,
  'app/examples': 45,
  'processes/summary-kill': 30,
  'contract/storage': 30,
  'sql/locked-sessions': 30,
  'processes/ended-connections': 27,
  'processes/shared-writing': 25,
  'processes/vanishing-sessions': 25,
  'module/open-handles': 20,
  'sql/network-faults': 25,
  'sql/schema': 18,
  architecture: 15,
  'docs/fences': 12,
  'architecture/closed-routes': 12,
  'architecture/public-exports': 12,
  'architecture/documentation': 10,
  'sql/round-trips': 10,
  'differential/agenda': 9,
};
const OTHERS_SECONDS = 3;

module.exports = class LongestFirst extends Sequencer {
  static SECONDS = SECONDS;

  /** How long a spec took here the last time, or else an estimate, in milliseconds. */
  time(test) {
    const name = relative(__dirname, test.path)
      .replaceAll('\\', '/')
      .replace(/\.spec\.ts$/, '');
    return super.time(test) ?? (SECONDS[name] ?? OTHERS_SECONDS) * 1_000;
  }
};
