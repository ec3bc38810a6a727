import { availableParallelism } from 'node:os';
import config from './jest.config.js';
import singleSpecs from './test/groups/single-specs.cjs';

/** All specs, most of them in groups that load their modules once. */
export default {
  ...config,
  testMatch: ['<rootDir>/test/groups/*.group.ts', ...singleSpecs.map((name) => `<rootDir>/test/${name}.spec.ts`)],
  // Many tests wait for servers, processes and time limits. Others use the cores meanwhile.
  maxWorkers: 2 * availableParallelism(),
  testSequencer: '<rootDir>/test/groups/longest-first.cjs',
};
