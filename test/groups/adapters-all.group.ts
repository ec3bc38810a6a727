import { describeSpecs } from './describe-specs.js';

describeSpecs('adapters/all');
