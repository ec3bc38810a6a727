import type { Session } from '../domain/session.js';

/** A session as JSON. */
export interface SessionView extends Omit<Session, 'state'> {
  readonly state: Record<string, unknown>;
}

export function viewOf({ state, ...session }: Session): SessionView {
  return { ...session, state: state.toJSON() };
}
