import { describeSpecs } from './describe-specs.js';

describeSpecs('app', 'cli', 'containers');
