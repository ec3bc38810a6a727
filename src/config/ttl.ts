/** When sessions and shared state expire. Off unless `enabled`; 0 seconds means never. */
export interface TtlSettings {
  readonly enabled: boolean;
  readonly sessionSeconds: number;
  readonly userStateSeconds: number;
  readonly appStateSeconds: number;
  readonly cleanupIntervalSeconds: number;
  /** Whether a read keeps alive what it read. */
  readonly refreshOnRead: boolean;
}

export const DEFAULT_TTL: TtlSettings = {
  enabled: false,
  sessionSeconds: 86_400,
  userStateSeconds: 0,
  appStateSeconds: 0,
  cleanupIntervalSeconds: 3_600,
  refreshOnRead: true,
};
