export { type OutputRule, withOutput } from './output-key.js';
