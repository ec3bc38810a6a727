import type { LoggedEvent } from '../domain/event.js';
import type { EventObject } from './types/object-types.js';
import type { GetSessionConfig } from '../domain/view-item.js';
import type { Session } from '../domain/session.js';
import { type SessionView, viewOf } from '../transport/session-view.js';

/** An event in the schema. */
export type EventNode = EventObject;

/** Picks known fields: an event may have any others, and `body` has all of them. */
export function eventNode(event: LoggedEvent): EventNode {
  const { id, seq, invocationId, author, branch, timestamp, content, actions } = event;
  return { id, seq, invocationId, author, branch, timestamp, content, actions, body: event };
}

/** A session in the schema, and how its view was narrowed. */
export interface SessionNode extends SessionView {
  readonly narrowing: GetSessionConfig;
}

export function sessionNode(session: Session, narrowing: GetSessionConfig = {}): SessionNode {
  return { ...viewOf(session), narrowing };
}

export function isSameNarrowing(one: GetSessionConfig, other: GetSessionConfig): boolean {
  const names = ['numRecentEvents', 'afterTimestamp', 'afterSeq'] as const;
  return names.every((name) => one[name] === other[name]);
}
