import config from './jest.config.js';
import singleSpecs from './test/groups/single-specs.cjs';

/** All specs, most of them in groups that load their modules once. */
export default {
  ...config,
  testMatch: ['<rootDir>/test/groups/*.group.ts', ...singleSpecs.map((name) => `<rootDir>/test/${name}.spec.ts`)],
  testSequencer: '<rootDir>/test/groups/longest-first.cjs',
};
