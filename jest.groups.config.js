import { availableParallelism } from 'node:os';
import config from './jest.config.js';
import singleSpecs from './test/groups/single-specs.cjs';

/** All specs, most of them in groups that load their modules once. */
export default {
  ...config,
  testMatch: ['<rootDir>/test/groups/*.group.ts', ...singleSpecs.map((name) => `<rootDir>/test/${name}.spec.ts`)],
  // Many tests wait for servers, processes and time limits. Others use the cores meanwhile, but not so many that limits pass.
  maxWorkers: Math.ceil(1.5 * availableParallelism()),
  // A worker that has loaded all modules of a group needs longer than Jest's half second to end while others use the cores.
  workerGracefulExitTimeout: 10_000,
  testSequencer: '<rootDir>/test/groups/longest-first.cjs',
};
