export { AdkRestModule, AgentsRestModule, type AgentsRestOptions } from './agents-rest.module.js';
