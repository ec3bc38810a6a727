export { AgentsRestModule, type AgentsRestOptions } from './agents-rest.module.js';
