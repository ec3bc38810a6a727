import type { GetSessionConfig } from '../domain/narrowing.js';
import type { Session } from '../domain/session.js';
import { type SessionView, viewOf } from '../faces/session-view.js';

/** A session that is answered, and how its view was narrowed when it was read. */
export interface ShownSession extends SessionView {
  readonly narrowing: GetSessionConfig;
}

export function shownSession(session: Session, narrowing: GetSessionConfig = {}): ShownSession {
  return { ...viewOf(session), narrowing };
}

export function isSameNarrowing(one: GetSessionConfig, other: GetSessionConfig): boolean {
  const names = ['numRecentEvents', 'afterTimestamp', 'afterSeq'] as const;
  return names.every((name) => one[name] === other[name]);
}
