export type { SessionsDocument } from './document-types.js';
export { describeSessionsRoutes, withSessionsRoutes } from './sessions-document.js';
