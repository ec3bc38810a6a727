import { createHash } from 'node:crypto';
import { createUnlessThere } from '../../sessions/create-unless-there.js';
import {
  EventConflictError,
  InvalidInputError,
  SessionNotFoundError,
  StaleSessionError,
} from '../../sessions/domain/errors.js';
import type { EventInput } from '../../sessions/domain/event.js';
import type { SessionKey } from '../../sessions/domain/ids.js';
import type { MetadataDelta } from '../../sessions/domain/metadata.js';
import { pagesOf } from '../../sessions/domain/paging.js';
import type { Session } from '../../sessions/domain/session.js';
import { incarnationOf } from '../../sessions/domain/session-tracking.js';
import type { SessionService } from '../../sessions/session.service.js';
import { JSON_TYPE, type StreamData, dataOf, eventData } from './stream-content.js';
import { StreamRefusal } from './stream-errors.js';
import type { Lifetime } from './stream-headers.js';

/** What a stream was created with. */
export interface StreamConfig extends Lifetime {
  readonly contentType: string;
  /** The id of the stream that it is a fork of. */
  readonly source?: string;
  /** Where it was forked. */
  readonly forkedAt?: string;
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
/** Marks what is left of a deleted stream while it has forks: {@link GoneStream}. */
const GONE_FIELD = 'agents:stream-gone';
/** Names the stream that a fork was made of. */
const SOURCE_LABEL = 'agents:stream-source';
/** The author of changes that add no data. */
const CONTROL = 'durable-streams';
const PAGE = 1_000;
const LAST_EVENTS = 16;
/** A read is noted when so much of the lifetime is over. */
const TOUCH_PART = 0.1;
/** Who looks for forks passes at most so many deleted ones. */
const MOST_GONE = 100;

/** Streams as sessions. */
export class StreamSessions {
  constructor(readonly service: SessionService) {}

  /** The stream, unless it is over. Throws if it was deleted, and has forks. */
  async open(key: SessionKey): Promise<OpenStream | undefined> {
    const session = await this.#load(key);
    if (!session) return undefined;
    const config = configOf(session);
    const gone = goneOf(session);
    if (gone && (await this.#hasForks(key, gone))) {
      throw new StreamRefusal(410, 'The stream was deleted. It has forks.');
    }
    if (gone || (config && isOver(session, config))) return this.#remove(session);
    const isClosed = session.metadata.fields[CLOSED_FIELD] !== undefined;
    return { key, session, config: config ?? { contentType: JSON_TYPE }, isClosed, isReadOnly: !config };
  }

  /** The same stream as it is now, unless it is over. Throws if it was deleted, and has forks. */
  async reopen({ key, session }: OpenStream): Promise<OpenStream | undefined> {
    const now = await this.open(key);
    return now && incarnationOf(now.session) === incarnationOf(session) ? now : undefined;
  }

  /** Deletes a stream with its data. As long as it has forks, its path stays taken. */
  async delete({ key, session, config }: OpenStream): Promise<void> {
    const { createTime, metadata } = session;
    const { appName, userId, sessionId } = key;
    await this.service.deleteSession({ appName, userId, sessionId, loaded: session });
    // Whoever makes a fork looks for its source after the fork can be found, so this finds all of them.
    if (!(await this.#hasForks(key, session))) return this.#removeSourcesOf(session);
    const { [SOURCE_LABEL]: label } = metadata.labels;
    const labels: Record<string, string> = label === undefined ? {} : { [SOURCE_LABEL]: label };
    const gone: GoneStream = { createTime, ...(config.source !== undefined && { source: config.source }) };
    await createUnlessThere(this.service, { ...key, metadata: { fields: { [GONE_FIELD]: gone }, labels } });
    // The last fork may have gone meanwhile.
    await this.open(key).catch(isGone);
  }

  async #load(key: SessionKey): Promise<Session | undefined> {
    return this.service.getSession({ ...key, config: { numRecentEvents: 0 } });
  }

  /** Removes what is over, and the deleted streams that only waited for it. */
  async #remove(over: Session): Promise<undefined> {
    await this.#discard(over);
    await this.#removeSourcesOf(over);
  }

  /** Removes the deleted streams that only waited for this fork. */
  async #removeSourcesOf(fork: Session): Promise<void> {
    for (let source = await this.#waitedFor(fork); source; source = await this.#waitedFor(source)) {
      await this.#discard(source);
    }
  }

  /** Not what was created since with the same path: a stream, or a conversation. Nor a stream that was used since. */
  async #discard(loaded: Session): Promise<void> {
    const { appName, userId, id } = loaded;
    await this.service.deleteSession({ appName, userId, sessionId: id, loaded, ifUnchanged: true });
  }

  /** The source of a fork, if it was deleted and has no other forks. */
  async #waitedFor(fork: Session): Promise<Session | undefined> {
    const sessionId = (goneOf(fork) ?? configOf(fork))?.source;
    if (sessionId === undefined) return undefined;
    const key = { appName: fork.appName, userId: fork.userId, sessionId };
    const source = await this.#load(key);
    const gone = source && goneOf(source);
    return gone && !(await this.#hasForks(key, gone)) ? source : undefined;
  }

  /** Whether forks are left, or forks of deleted forks. Removes those that are over. */
  async #hasForks({ appName, userId, sessionId }: SessionKey, { createTime }: GoneStream): Promise<boolean> {
    const deleted: Session[] = [];
    const sources = [forkLabels(sessionId, createTime)];
    for (let labels = sources.pop(); labels; labels = sources.pop()) {
      const forks = { appName, userId, filter: { labels }, orderBy: 'createTime', includeState: false } as const;
      for await (const { sessions } of pagesOf((cursor) => this.service.listSessions({ ...forks, cursor }))) {
        for (const fork of sessions) {
          const config = configOf(fork);
          const gone = goneOf(fork);
          if (config && !isOver(fork, config)) return true;
          if (config) await this.#discard(fork);
          if (!gone) continue;
          if (deleted.push(fork) > MOST_GONE) return true;
          sources.push(forkLabels(fork.id, gone.createTime));
        }
      }
    }
    for (const fork of deleted.toReversed()) await this.#discard(fork);
    return false;
  }

  /** Returns `false` if there is one. */
  async create(key: SessionKey, config: StreamConfig, isClosed: boolean): Promise<boolean> {
    const fields = { [CONFIG_FIELD]: config, ...(isClosed && { [CLOSED_FIELD]: {} }) };
    return (await createUnlessThere(this.service, { ...key, metadata: { fields } })) !== undefined;
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

  /** The same stream when there is an event after this one, or the signal aborts; `undefined` if it is over. */
  async changed(stream: OpenStream, afterSeq: number, signal: AbortSignal): Promise<OpenStream | undefined> {
    const watching = this.service.watch({ ...stream.key, afterSeq, signal });
    let refusal: InvalidInputError | undefined;
    try {
      const { done } = await watching.next();
      if (done && !signal.aborted) throw new StreamRefusal(503, 'The server stops.', { 'Retry-After': '1' });
    } catch (error) {
      if (error instanceof InvalidInputError) refusal = error;
      else if (!(error instanceof SessionNotFoundError)) throw error;
    } finally {
      await watching.return?.();
    }
    const now = await this.reopen(stream);
    // Only a log that has the path by now may be shorter.
    if (now && refusal) throw refusal;
    return now;
  }

  /** Notes that a stream with a lifetime is used. At most ten times in its lifetime: a note is an event without data. */
  async touch(stream: OpenStream): Promise<void> {
    const { session, config, isReadOnly } = stream;
    if (isReadOnly || config.ttlSeconds === undefined) return;
    const idle = Date.now() - session.lastUpdateTime;
    if (idle >= config.ttlSeconds * 1_000 * TOUCH_PART) await this.tryAppend(stream, [], {});
  }
}

/** What is left of a deleted stream while it has forks. */
interface GoneStream {
  readonly createTime: number;
  /** The id of the stream that it was a fork of. */
  readonly source?: string;
}

/** What an append changes beside the data. */
export interface StreamChange extends MetadataDelta {
  stateDelta?: Record<string, unknown>;
  stateRemovals?: string[];
}

/** What finds the forks of a stream, and not of an earlier one with the same path. */
export function forkLabels(sessionId: string, createTime: number): Record<string, string> {
  const source = createHash('sha256').update(`${createTime} ${sessionId}`);
  return { [SOURCE_LABEL]: source.digest('base64url') };
}

/** Deleted, with forks. */
export function isGone(error: unknown): true {
  if (error instanceof StreamRefusal && error.status === 410) return true;
  throw error;
}

function configOf({ metadata }: Session): StreamConfig | undefined {
  return metadata.fields[CONFIG_FIELD] as StreamConfig | undefined;
}

/** Not of a conversation that began since at the same path. */
function goneOf({ metadata, version }: Session): GoneStream | undefined {
  return version === 0 ? (metadata.fields[GONE_FIELD] as GoneStream | undefined) : undefined;
}

function isOver({ lastUpdateTime }: Session, { ttlSeconds, expiresAt }: Lifetime): boolean {
  if (expiresAt !== undefined) return Date.now() >= Date.parse(expiresAt);
  return ttlSeconds !== undefined && Date.now() >= lastUpdateTime + ttlSeconds * 1_000;
}
