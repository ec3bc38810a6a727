export { SearchGraphqlModule, type SearchGraphqlOptions } from './search-graphql.module.js';
