import { describeSpecs } from './describe-specs.js';

describeSpecs('module', 'doctor', 'health');
