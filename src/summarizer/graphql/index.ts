export { SummarizerGraphqlModule, type SummarizerGraphqlOptions } from './summarizer-graphql.module.js';
