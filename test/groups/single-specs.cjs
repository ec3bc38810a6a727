'use strict';

const layer = require('./layer.cjs');

/** Specs that run by themselves, as paths below `test`. */
module.exports = [
  // They replace packages that other specs of their folder load.
  'module/missing-drivers',
  'module/missing-packages',
  // Its snapshots belong to the path of the spec. It compiles `src` for all questions about exported names.
  'architecture/public-exports',
  // They take long, but for the fast layer.
  ...(layer.isFast ? [] : ['contract/service', 'differential/differential', 'processes/kill']),
];
