import { describeSpecs } from './describe-specs.js';

describeSpecs('adapters/ai-sdk');
