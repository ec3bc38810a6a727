/** Ids in the path. The domain rules validate them. */
export interface AppParams {
  readonly appName: string;
}

export interface UserParams extends AppParams {
  readonly userId: string;
}

export interface SessionParams extends UserParams {
  readonly sessionId: string;
}
