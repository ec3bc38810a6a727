export { describeSummaryRoutes, withSummaryRoutes } from './summaries-document.js';
