export { AgentsGraphqlModule, type AgentsGraphqlOptions } from './agents-graphql.module.js';
