import { availableParallelism } from 'node:os';
import config from './jest.config.js';
import layer from './test/groups/layer.cjs';
import singleSpecs from './test/groups/single-specs.cjs';

const singles = singleSpecs.filter((name) => layer.has(name));

/** The specs of the layer that `LAYER` names, most of them in groups that load their modules once. */
export default {
  ...config,
  testMatch: ['<rootDir>/test/groups/*.group.ts', ...singles.map((name) => `<rootDir>/test/${name}.spec.ts`)],
  // One for each core: with more, answers of servers come later than the time limits of stores now and then.
  maxWorkers: availableParallelism(),
  // Jest keeps what each group has loaded. With several groups in it, a worker stops for seconds to collect its garbage, so that stores
  // seem not to answer: each group gets a new one.
  workerIdleMemoryLimit: '300MB',
  // A worker that has loaded all modules of a group needs longer than Jest's half second to end while others use the cores.
  workerGracefulExitTimeout: 10_000,
  testSequencer: '<rootDir>/test/groups/longest-first.cjs',
};
