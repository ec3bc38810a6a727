import { describeSpecs } from './describe-specs.js';

describeSpecs('sql', 'sqlite', 'tls');
