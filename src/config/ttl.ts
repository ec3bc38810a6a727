/** When sessions and shared state expire. Off unless `enabled`; 0 seconds means never. */
export interface TtlSettings {
  /** Whether anything expires. */
  readonly enabled: boolean;
  /** Life of a session since it was last read or appended to. */
  readonly sessionSeconds: number;
  /** The same for what all sessions of a user share. */
  readonly userStateSeconds: number;
  /** The same for what all sessions of an app share. */
  readonly appStateSeconds: number;
  /** How often the job of `SessionsModule` removes what expired. */
  readonly cleanupIntervalSeconds: number;
  /** Whether a read keeps alive what it read. */
  readonly refreshOnRead: boolean;
}

/** Nothing expires; where that is switched on, sessions do after a day. */
export const DEFAULT_TTL: TtlSettings = {
  enabled: false,
  sessionSeconds: 86_400,
  userStateSeconds: 0,
  appStateSeconds: 0,
  cleanupIntervalSeconds: 3_600,
  refreshOnRead: true,
};
