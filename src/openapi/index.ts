export { type DocsOptions, mountDocs } from './mount-docs.js';
export { type SessionsDocument, describeSessionsRoutes, withSessionsRoutes } from '../sessions/openapi/index.js';
export { describeSummaryRoutes, withSummaryRoutes } from '../summarizer/openapi/index.js';
