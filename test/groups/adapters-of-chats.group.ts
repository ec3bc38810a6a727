import { describeSpecs } from './describe-specs.js';

describeSpecs('adapters/ai-sdk', 'adapters/ag-ui', 'adapters/a2a', 'adapters/mcp', 'adapters/all');
