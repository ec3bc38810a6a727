export * from './sessions/graphql/index.js';
export * from './agents/graphql/index.js';
export * from './summarizer/graphql/index.js';
export * from './search/graphql/index.js';
