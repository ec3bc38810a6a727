/** Ids of a route. They are checked by the rules of sessions, which every store relies on. */
export interface AppParams {
  readonly appName: string;
}

export interface UserParams extends AppParams {
  readonly userId: string;
}

export interface SessionParams extends UserParams {
  readonly sessionId: string;
}
