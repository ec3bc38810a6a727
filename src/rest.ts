export * from './sessions/rest/index.js';
export * from './agents/rest/index.js';
export * from './summarizer/rest/index.js';
export * from './search/rest/index.js';
export * from './openapi/index.js';
