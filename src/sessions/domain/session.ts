import { State } from '../../state/state.js';
import { InvalidInputError } from './errors.js';
import type { LoggedEvent } from './event.js';
import { type SessionKey, checkedSessionKey, saveKeyOf } from './ids.js';
import type { SessionRecord } from './session-record.js';

/**
 * A session as a caller holds it: a view of the log, and the state. It is the caller's own; changes of
 * `state` are saved by `updateSession`, and appending through it keeps it up to date.
 *
 * @example
 * const session = await sessions.getSession({ appName: 'shop', userId: 'ann', sessionId });
 * session?.events.at(-1)?.content; // what was said last
 * session?.state.get('user:theme', 'light');
 */
export class Session {
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
  /** Where ADK-style save files of this user belong. */
  readonly saveKey: string;
  readonly createTime: number;
  /** All scopes merged, keys with their prefixes. */
  readonly state: State;
  events: LoggedEvent[];
  lastUpdateTime: number;
  /** The highest `seq` up to which this object knows every event. */
  version: number;
  /** How often the user spoke, in what is not rewound. */
  conversationCount: number;

  constructor(record: SessionRecord, state: Record<string, unknown>, events: LoggedEvent[]) {
    this.id = record.sessionId;
    this.appName = record.appName;
    this.userId = record.userId;
    this.saveKey = saveKeyOf(record.appName, record.userId);
    this.createTime = record.createTime;
    this.state = new State(state);
    this.events = events;
    this.lastUpdateTime = record.lastUpdateTime;
    this.version = record.lastSeq;
    this.conversationCount = record.counters.turns;
  }
}

/** What is enough to name the session that an operation is about. */
export type SessionReference = Session | { readonly id: string; readonly appName: string; readonly userId: string };

/** The ids of the session that is meant. */
export function referencedKey(session: SessionReference): SessionKey {
  if (typeof session !== 'object' || session === null) {
    throw new InvalidInputError('must be a session, or { id, appName, userId }', 'session');
  }
  return checkedSessionKey({ appName: session.appName, userId: session.userId, sessionId: session.id });
}
