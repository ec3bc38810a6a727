import {
  EventConflictError,
  SessionExistsError,
  SessionNotFoundError,
  StaleSessionError,
} from '../../sessions/domain/errors.js';
import type { EventInput } from '../../sessions/domain/event.js';
import type { SessionKey } from '../../sessions/domain/ids.js';
import type { MetadataDelta } from '../../sessions/domain/metadata.js';
import type { Session } from '../../sessions/domain/session.js';
import type { SessionService } from '../../sessions/session.service.js';
import { JSON_TYPE, type StreamData, dataOf, eventData } from './stream-content.js';
import type { Lifetime } from './stream-headers.js';

/** What a stream was created with. */
export interface StreamConfig extends Lifetime {
  readonly contentType: string;
  readonly forkedFrom?: string;
}

/** A stream as it is now. */
export interface OpenStream {
  readonly key: SessionKey;
  readonly session: Session;
  readonly config: StreamConfig;
  readonly isClosed: boolean;
  /** A conversation, which is only read. */
  readonly isReadOnly: boolean;
}

/** A part of a stream. */
export interface ReadData {
  readonly data: readonly StreamData[];
  /** After the last event that was looked at. */
  readonly seq: number;
  readonly isUpToDate: boolean;
}

export const CONFIG_FIELD = 'agents:stream';
export const CLOSED_FIELD = 'agents:stream-closed';
export const SEQ_FIELD = 'agents:stream-seq';
/** The author of changes that add no data. */
const CONTROL = 'durable-streams';
const PAGE = 1_000;
const LAST_EVENTS = 16;
/** A read is noted when so much of the lifetime is over. */
const TOUCH_PART = 0.1;

/** Streams as sessions. */
export class StreamSessions {
  constructor(readonly service: SessionService) {}

  /** The stream, unless it is over. */
  async open(key: SessionKey): Promise<OpenStream | undefined> {
    const session = await this.service.getSession({ ...key, config: { numRecentEvents: 0 } });
    if (!session) return undefined;
    const config = session.metadata.fields[CONFIG_FIELD] as StreamConfig | undefined;
    const isClosed = session.metadata.fields[CLOSED_FIELD] !== undefined;
    if (!config) return { key, session, config: { contentType: JSON_TYPE }, isClosed, isReadOnly: true };
    if (Date.now() < endOf(session, config)) return { key, session, config, isClosed, isReadOnly: false };
    await this.service.deleteSession(key);
    return undefined;
  }

  /** Returns `false` if there is one. */
  async create(key: SessionKey, config: StreamConfig, isClosed: boolean): Promise<boolean> {
    const fields = { [CONFIG_FIELD]: config, ...(isClosed && { [CLOSED_FIELD]: {} }) };
    try {
      await this.service.createSession({ ...key, metadata: { fields } });
      return true;
    } catch (error) {
      if (error instanceof SessionExistsError) return false;
      throw error;
    }
  }

  /** Returns the number of the last event, or `undefined` if the stream has changed. */
  async tryAppend(
    { session }: OpenStream,
    events: readonly EventInput[],
    change: StreamChange,
  ): Promise<number | undefined> {
    const [first, ...others] = events.length > 0 ? events : [{ author: CONTROL }];
    const { stateDelta, stateRemovals, ...metadata } = change;
    const actions = {
      ...(stateDelta && { stateDelta }),
      ...(stateRemovals && { stateRemovals }),
      ...(Object.keys(metadata).length > 0 && { metadataDelta: metadata }),
    };
    const given = [{ ...first, actions }, ...others];
    try {
      const stored = await this.service.appendEvents({ session, events: given, expectedVersion: session.version });
      return stored.at(-1)?.seq;
    } catch (error) {
      if (error instanceof StaleSessionError || error instanceof SessionNotFoundError) return undefined;
      if (error instanceof EventConflictError) return undefined;
      throw error;
    }
  }

  /** What follows, up to a page. */
  async read({ key, isReadOnly }: OpenStream, afterSeq: number): Promise<ReadData> {
    const { events, nextCursor } = await this.service.listEvents({ ...key, afterSeq, limit: PAGE });
    const data = events.flatMap((event) => (isReadOnly ? eventData(event) : (dataOf(event) ?? [])));
    return { data, seq: events.at(-1)?.seq ?? afterSeq, isUpToDate: nextCursor === undefined };
  }

  /** The number of the last event with data; 0 if there is none. */
  async tail({ key, isReadOnly }: OpenStream): Promise<number> {
    let beforeSeq: number | undefined;
    for (;;) {
      const { events } = await this.service.listEvents({ ...key, beforeSeq, order: 'desc', limit: LAST_EVENTS });
      const last = events.find((event) => isReadOnly || dataOf(event));
      if (last) return last.seq;
      beforeSeq = events.at(-1)?.seq;
      if (beforeSeq === undefined) return 0;
    }
  }

  /** Resolves when there is an event after this one, or the signal aborts. */
  async changed(key: SessionKey, afterSeq: number, signal: AbortSignal): Promise<void> {
    const watching = this.service.watch({ ...key, afterSeq, signal });
    try {
      await watching.next();
    } catch (error) {
      if (!(error instanceof SessionNotFoundError)) throw error;
    } finally {
      await watching.return?.();
    }
  }

  /** Notes that a stream with a lifetime is used. At most ten times in its lifetime: a note is an event without data. */
  async touch(stream: OpenStream): Promise<void> {
    const { session, config, isReadOnly } = stream;
    if (isReadOnly || config.ttlSeconds === undefined) return;
    const idle = Date.now() - session.lastUpdateTime;
    if (idle >= config.ttlSeconds * 1_000 * TOUCH_PART) await this.tryAppend(stream, [], {});
  }
}

/** What an append changes beside the data. */
export interface StreamChange extends MetadataDelta {
  stateDelta?: Record<string, unknown>;
  stateRemovals?: string[];
}

function endOf({ lastUpdateTime }: Session, { ttlSeconds, expiresAt }: Lifetime): number {
  if (expiresAt !== undefined) return Date.parse(expiresAt);
  return ttlSeconds === undefined ? Infinity : lastUpdateTime + ttlSeconds * 1_000;
}
