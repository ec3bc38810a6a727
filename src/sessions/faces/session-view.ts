import type { Session } from '../domain/session.js';

/** A session as JSON shows it. */
export interface SessionView extends Omit<Session, 'state'> {
  readonly state: Record<string, unknown>;
}

export function viewOf({ state, ...session }: Session): SessionView {
  return { ...session, state: state.toRecord() };
}

/** A number that came as text, and was checked. */
export function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}
