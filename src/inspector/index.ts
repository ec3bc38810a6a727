export type { InspectorModuleOptions, InspectorOptions } from './inspector-options.js';
export type { InspectorAction } from './page-config.js';
export { type InspectorModuleAsyncOptions, SessionsInspectorModule } from './inspector.module.js';
