export type { InspectorAction, InspectorModuleOptions, InspectorOptions } from './inspector-options.js';
export { type InspectorModuleAsyncOptions, SessionsInspectorModule } from './inspector.module.js';
