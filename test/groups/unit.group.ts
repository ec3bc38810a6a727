import { describeSpecs } from './describe-specs.js';

describeSpecs('unit', 'health', 'transports', 'watching');
