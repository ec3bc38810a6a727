export {
  TRACED_OPERATIONS,
  channelOf,
  type TracedOperation,
  type TracedOperationName,
} from '../sessions/tracing/operation-channels.js';
export { CONVENTIONS_VERSION } from './conventions.js';
export { measureOperations, type MeasuredOperationHandler, type MeasureOptions } from './measure-operations.js';
export { SessionsTelemetryModule } from './sessions-telemetry.module.js';
export { startTelemetry, type TelemetryOptions } from './telemetry.js';
