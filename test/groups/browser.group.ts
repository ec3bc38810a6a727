import { describeSpecs } from './describe-specs.js';

describeSpecs('browser', 'inspector');
