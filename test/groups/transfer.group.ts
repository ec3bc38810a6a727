import { describeSpecs } from './describe-specs.js';

describeSpecs('transfer', 'components', 'vertex');
