export { VertexSessionStorage } from './vertex-session-storage.js';
export { VertexError, type VertexFailure } from './vertex-error.js';
export type { AccessTokenSource, VertexSessionStorageOptions } from './vertex-options.js';
