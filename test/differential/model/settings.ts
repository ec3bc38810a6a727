import type { TtlSettings } from './expiry.js';

/** The settings of a run; 0 switches a setting off. */
export interface ModelSettings {
  readonly maxEvents: number;
  readonly numRecentEvents: number;
  readonly eventTtlSeconds: number;
  readonly ttl: TtlSettings;
}
