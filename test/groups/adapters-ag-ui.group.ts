import { describeSpecs } from './describe-specs.js';

describeSpecs('adapters/ag-ui');
