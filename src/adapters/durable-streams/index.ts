export { DurableStreams, type DurableStreamsOptions } from './durable-streams.js';
export { type MountOptions, mountDurableStreams } from './mount-durable-streams.js';
