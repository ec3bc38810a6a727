export { type AdkRestOptions, AdkRestModule, AgentsRestModule, type AgentsRestOptions } from './agents-rest.module.js';
