import { describeSpecs } from './describe-specs.js';

describeSpecs('service', 'search');
