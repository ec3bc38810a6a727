export { ComponentConflictError, ComponentFilesError, ComponentNotFoundError } from './component-errors.js';
export { ComponentManager } from './component-manager.js';
export {
  ComponentSession,
  type ComponentSessionKey,
  type ComponentSessionOptions,
  type ConflictPolicy,
  type SaveListOptions,
  type SaveOptions,
  type Versioned,
} from './component-session.js';
export {
  type ComponentHead,
  type ComponentPlace,
  type ComponentStore,
  type ComponentWrite,
  type ComponentWriteOutcome,
  type StoredComponent,
  componentWriteOutcome,
  digestAfter,
} from './component-store.js';
export { COMPONENT_STORE, ComponentsModule, type ComponentsModuleOptions } from './components.module.js';
export { InMemoryComponentStore } from './in-memory-component-store.js';
export { JsonFileComponentStore, type JsonFileComponentStoreOptions } from './json-files/json-file-component-store.js';
export { Saved, SavedList, type SaveStateOptions, type StateModule, StateModuleOf } from './state-module.js';
