export type { EventsAroundRequest, SearchEventsRequest, SearchHit, SearchPage, SearchStatus } from './found-events.js';
export type { RebuildRequest, RebuiltIndex } from './rebuild-index.js';
export { SearchModule, type SearchModuleOptions } from './search.module.js';
export { SEARCH_CONSUMER, SessionSearch, type SessionSearchOptions } from './session-search.js';
export {
  type ReadSessionWindowArgs,
  type RecallTool,
  type RecallTools,
  type RecallToolsRequest,
  recallTools,
  type SearchSessionsArgs,
} from './recall-tools.js';
