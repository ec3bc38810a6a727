export { AgUiModule, type AgUiOptions } from './ag-ui.module.js';
export { type AgUiRequest, agUiRequestOf } from './run-input.js';
