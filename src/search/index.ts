export type { EventsAroundRequest } from './events-around.js';
export type { RebuildRequest, RebuiltIndex } from './rebuild-index.js';
export { SearchModule, type SearchModuleOptions } from './search.module.js';
export type { SearchHit, SearchPage } from './search-page.js';
export type { SearchEventsRequest } from './search-request.js';
export { SEARCH_CONSUMER, type SearchLag, SessionSearch, type SessionSearchOptions } from './session-search.js';
export {
  type ReadSessionWindowArgs,
  type RecallTool,
  type RecallTools,
  type RecallToolsRequest,
  recallTools,
  type SearchSessionsArgs,
} from './recall-tools.js';
