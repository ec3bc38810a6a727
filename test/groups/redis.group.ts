import { describeSpecs } from './describe-specs.js';

describeSpecs('redis', 'servers');
