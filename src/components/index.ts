export {
  type AgentScopeImportOptions,
  type AgentScopeReport,
  decodeAgentScopeId,
} from './agentscope/agentscope-import.js';
export { type AgentScopeFilesOptions, importAgentScopeFiles } from './agentscope/import-agentscope-files.js';
export {
  type AgentScopeRedisClient,
  type AgentScopeRedisNode,
  type AgentScopeRedisOptions,
  importAgentScopeRedis,
} from './agentscope/import-agentscope-redis.js';
export { type AgentScopeTableOptions, importAgentScopeTable } from './agentscope/import-agentscope-table.js';
export { ComponentConflictError, ComponentFilesError, ComponentNotFoundError } from './component-errors.js';
export { ComponentManager } from './component-manager.js';
export {
  ComponentSession,
  type ComponentSessionKey,
  type ComponentServiceOptions,
  type ComponentSessionOptions,
  type ComponentStoreOptions,
  type SaveListOptions,
  type SaveOptions,
  type Versioned,
} from './component-session.js';
export {
  type ComponentHead,
  type ComponentPlace,
  type ComponentWrite,
  type ComponentWriteOutcome,
  type StoredComponent,
  componentWriteOutcome,
  digestAfter,
} from '../sessions/domain/stored/component.js';
export type {
  ComponentContents,
  ComponentSessionsRequest,
  ComponentStore,
} from '../sessions/storage/component-store.js';
export { InMemoryComponentStore } from '../sessions/storage/in-memory/in-memory-component-store.js';
export { ComponentsCleanup } from './components.cleanup.js';
export { COMPONENT_STORE, ComponentsModule } from './components.module.js';
export type { ComponentsModuleOptions } from './components-options.js';
export { JsonFileComponentStore, type JsonFileComponentStoreOptions } from './json-files/json-file-component-store.js';
export type { ConflictPolicy } from './list-writer.js';
export {
  Saved,
  SavedList,
  type SavedListOptions,
  type SaveStateOptions,
  type StateModule,
  StateModuleOf,
} from './state-module.js';
