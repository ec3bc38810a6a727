import { describeSpecs } from './describe-specs.js';

describeSpecs('adapters/durable-streams');
