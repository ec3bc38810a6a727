import { State } from '../../../state/state.js';
import { InvalidInputError } from '../errors/errors.js';
import type { LoggedEvent } from '../event/event.js';
import { type SessionKey, assertId, checkedSessionKey, saveKeyOf } from '../values/ids.js';
import type { SessionMetadata } from '../metadata/metadata.js';
import { parseMetadataText } from './tracked-metadata.js';
import { SessionEvents } from '../view/session-events.js';
import type { SessionRecord } from '../stored/session-record.js';

/**
 * A session object: a view of the log, and the state. It belongs to the caller. `updateSession` saves changes of `state`,
 * and appends through the object keep it up to date.
 *
 * @example
 * const session = await sessions.getSession({ appName: 'shop', userId: 'ann', sessionId });
 * session?.events.at(-1)?.content; // the last message
 * session?.state.get('user:theme', 'light');
 */
export class Session {
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
  /** Path for ADK-style save files of this user. */
  readonly saveKey: string;
  readonly createTime: number;
  /** All scopes merged, keys with their prefixes. Made when it is read for the first time. */
  declare readonly state: State;
  /** Title, status, tags, labels and own fields. Changed by events with `actions.metadataDelta`. */
  metadata: SessionMetadata;
  /** The view, in the order of the log. Parsed when it is read for the first time. */
  declare events: LoggedEvent[];
  /** `true` if older events of the view were omitted because of their size; `listEvents` returns them. */
  declare eventsTruncated?: true;
  /**
   * Only in lists of an encrypted store: the code of why texts of the session cannot be decrypted. It is listed without its state,
   * title and fields, and whoever reads it gets that error.
   */
  declare unreadable?: string;
  /** `true` if events need a turn. */
  declare readonly turnsOnly?: true;
  lastUpdateTime: number;
  /** The highest `seq` up to which this object knows every event. */
  version: number;
  /** Number of user messages that are not rewound. */
  conversationCount: number;

  constructor(
    record: SessionRecord,
    state: InitialState,
    events: LoggedEvent[] | SessionEvents,
    metadata: SessionMetadata = parseMetadataText(''),
  ) {
    this.id = record.sessionId;
    this.appName = record.appName;
    this.userId = record.userId;
    this.saveKey = saveKeyOf(record.appName, record.userId);
    this.createTime = record.createTime;
    Object.defineProperty(this, 'state', STATE);
    this.metadata = metadata;
    const behind = events instanceof SessionEvents ? events : new SessionEvents([], events);
    Object.defineProperty(this, PARTS, { value: new SessionParts(this, state, behind) });
    Object.defineProperty(this, 'events', EVENTS);
    this.lastUpdateTime = record.lastUpdateTime;
    this.version = record.lastSeq;
    this.conversationCount = record.counters.turns;
    if (record.turnsOnly) this.turnsOnly = true;
  }

  /** What the console prints. */
  [Symbol.for('nodejs.util.inspect.custom')](_depth: number, options: object, inspect: Inspect): string {
    return `Session ${inspect({ ...this }, options)}`;
  }
}

type Inspect = (value: object, options: object) => string;

/** The values of the state, or what reads them when somebody looks at the state. */
export type InitialState = Record<string, unknown> | (() => Record<string, unknown>);

/** What a session object holds behind its properties. Most sessions of a list are never looked at closely. */
class SessionParts {
  #state: unknown;
  #initial: InitialState | undefined;
  /** What the service knows of the object. */
  tracking: unknown;

  constructor(
    readonly owner: Session,
    initial: InitialState,
    readonly events: SessionEvents,
  ) {
    this.#initial = initial;
  }

  get state(): unknown {
    const values = this.#values;
    if (values) {
      this.#state = new State(values);
      this.#initial = undefined;
    }
    return this.#state;
  }

  /** A caller may replace it by mistake, which a later append reports. */
  set state(state: unknown) {
    this.#state = state;
    this.#initial = undefined;
  }

  /** What the state writes as JSON. */
  get stateJson(): Record<string, unknown> {
    return this.#values ? { ...this.#values } : (this.#state as State).toJSON();
  }

  /** The values of a state that nobody has looked at. */
  get #values(): Record<string, unknown> | undefined {
    if (typeof this.#initial === 'function') this.#initial = this.#initial();
    return this.#initial;
  }
}

/** A property that is not enumerable. Proxies of a session, and objects that inherit from it, have it, too. */
const PARTS = Symbol('parts');

function requireSessionParts(session: object, property: string): SessionParts {
  const parts: unknown = Reflect.get(session, PARTS);
  if (!(parts instanceof SessionParts)) throw new TypeError(`${property} was used on something that is no Session`);
  return parts;
}

/** The events behind `session.events`, for the session service. */
export function sessionEventsOf(session: Session): SessionEvents {
  return requireSessionParts(session, 'session.events').events;
}

/** What {@link noteTracking} noted for exactly this object, not for a proxy of it. */
export function trackingOf(session: object): unknown {
  const parts: unknown = Reflect.get(session, PARTS);
  return parts instanceof SessionParts && parts.owner === session ? parts.tracking : undefined;
}

/** Notes what the service has to know of a session object. Cheaper than a `WeakMap` for thousands of sessions. */
export function noteTracking(session: Session, tracking: object): void {
  requireSessionParts(session, 'a session').tracking = tracking;
}

/** One property for all sessions: an own property of each, as the other fields are. */
const EVENTS: PropertyDescriptor & ThisType<Session> = {
  get(): LoggedEvent[] {
    return sessionEventsOf(this).list;
  },
  set(events: LoggedEvent[]) {
    sessionEventsOf(this).list = events;
  },
  enumerable: true,
  configurable: true,
};

const STATE: PropertyDescriptor & ThisType<Session> = {
  get(): unknown {
    return requireSessionParts(this, 'session.state').state;
  },
  set(state: unknown) {
    requireSessionParts(this, 'session.state').state = state;
  },
  enumerable: true,
  configurable: true,
};

/** A session object, or the ids that identify one. */
export type SessionReference = Session | { readonly id: string; readonly appName: string; readonly userId: string };

/** Returns the ids of the referenced session. */
export function referencedKey(session: SessionReference): SessionKey {
  if (typeof session !== 'object' || session === null) {
    throw new InvalidInputError('must be a session, or { id, appName, userId }', 'session');
  }
  const { appName, userId, id: sessionId } = session;
  assertId(appName, 'session.appName');
  assertId(userId, 'session.userId');
  assertId(sessionId, 'session.id');
  return { appName, userId, sessionId };
}

/** The session that a request names. Errors use the names of the request's fields. */
export function referenceTo(request: SessionKey): SessionReference {
  const { appName, userId, sessionId: id } = checkedSessionKey(request);
  return { id, appName, userId };
}

/** A session as JSON. */
export interface SessionView extends Omit<Session, 'state'> {
  readonly state: Record<string, unknown>;
}

/** Makes no state object, which most sessions of a list do not need. */
export function toSessionView(session: Session): SessionView {
  const { id, appName, userId, saveKey, createTime, metadata, events } = session;
  const { lastUpdateTime, version, conversationCount, turnsOnly, eventsTruncated, unreadable } = session;
  return {
    id,
    appName,
    userId,
    saveKey,
    createTime,
    metadata,
    events,
    lastUpdateTime,
    version,
    conversationCount,
    ...(turnsOnly && { turnsOnly }),
    ...(eventsTruncated && { eventsTruncated }),
    ...(unreadable && { unreadable }),
    state: requireSessionParts(session, 'session.state').stateJson,
  };
}
