export { SearchRestModule, type SearchRestOptions } from './search-rest.module.js';
