'use strict';

/** Specs that run by themselves, as paths below `test`. */
module.exports = [
  // They replace packages that other specs of their folder load.
  'module/missing-drivers',
  'module/missing-packages',
  // Their snapshots belong to the path of the spec.
  'architecture/public-exports',
  // They take long.
  'contract/service',
  'differential/differential',
  'processes/kill',
];
