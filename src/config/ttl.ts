/** When sessions and shared state expire. Off unless `enabled`; 0 seconds means never. */
export interface TtlSettings {
  /** Whether anything expires. */
  readonly enabled: boolean;
  /** Lifetime of a session since the last read or append. */
  readonly sessionSeconds: number;
  /** Lifetime of user state. */
  readonly userStateSeconds: number;
  /** Lifetime of app state. */
  readonly appStateSeconds: number;
  /** Interval of the cleanup job of `SessionsModule`. */
  readonly cleanupIntervalSeconds: number;
  /** Whether reads renew lifetimes. */
  readonly refreshOnRead: boolean;
}

/** Nothing expires. If enabled, sessions expire after a day. */
export const DEFAULT_TTL: TtlSettings = {
  enabled: false,
  sessionSeconds: 86_400,
  userStateSeconds: 0,
  appStateSeconds: 0,
  cleanupIntervalSeconds: 3_600,
  refreshOnRead: true,
};
