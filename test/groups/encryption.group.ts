import { describeSpecs } from './describe-specs.js';

describeSpecs('encryption');
