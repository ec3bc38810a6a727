import { describeSpecs } from './describe-specs.js';

describeSpecs('adapters/a2a');
