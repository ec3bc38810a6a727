import { describeSpecs } from './describe-specs.js';

describeSpecs('adapters/adk', 'adapters/openai-agents', 'adapters/langgraph', 'adapters/claude-agent');
