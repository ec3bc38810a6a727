import type { TtlSettings } from './expiry.js';

/** What a run is configured with; 0 switches a setting off. */
export interface ModelSettings {
  readonly maxEvents: number;
  readonly numRecentEvents: number;
  readonly eventTtlSeconds: number;
  readonly ttl: TtlSettings;
}
