import type { LoggedEvent } from '../../sessions/domain/event/event.js';
import { type SessionKey, sessionNameOf } from '../../sessions/domain/values/ids.js';
import type { SessionService } from '../../sessions/session.service.js';
import { dequeuedBy, queueEntryOf } from '../turn/control-events.js';
import { type QueuePlace, toQueuePlace } from '../turn/queue-place.js';

/** A message that waits. */
export interface QueueMember {
  readonly entry: QueuePlace;
  /** Called for each event after its own, in nearly the order of the log. */
  notice(event: LoggedEvent): void;
  /** The watch ended: with an error, or because the service closes. */
  noticeEnd(failure?: { readonly error: unknown }): void;
}

const PAGE = 100;

/**
 * Watches the log for all messages of this process that wait in one session, so that each event is read once. It also
 * remembers which messages wait, and looks at the turn for all of them.
 */
export class QueueWatch {
  readonly #members = new Set<QueueMember>();
  /** Messages that wait, as far as somebody here has seen them. */
  readonly #known = new Map<string, QueuePlace>();
  readonly #ending = new AbortController();
  /** The last event that was noticed. */
  #seq: number | undefined;
  #freeSince: number | undefined;
  #lookedAt = -Infinity;

  /** @param all those of the service, by the names of their sessions */
  constructor(
    private readonly sessions: SessionService,
    private readonly key: SessionKey,
    private readonly all: Map<string, QueueWatch>,
  ) {
    all.set(sessionNameOf(key), this);
  }

  /** Tells the member each event after its own, until it leaves. */
  join(member: QueueMember): void {
    const { seq } = member.entry;
    this.#members.add(member);
    // The first one begins with its own event, so that it is known as it was stored.
    if (this.#seq === undefined) void this.#watch((this.#seq = seq - 1));
    else if (this.#seq > seq) void this.#catchUp(member, this.#seq);
  }

  leave(member: QueueMember): void {
    this.#members.delete(member);
    if (this.#members.size > 0) return;
    this.#ending.abort();
    this.#forget();
  }

  /** Says that a message waits. */
  remember(entry: QueuePlace): void {
    this.#known.set(entry.invocationId, entry);
  }

  /** The message of an invocation, if it is known to wait. */
  entryOf(invocationId: string): QueuePlace | undefined {
    return this.#known.get(invocationId);
  }

  /** Whether the turn was free when somebody last looked. */
  get isFree(): boolean {
    return this.#freeSince !== undefined;
  }

  noteHeld(): void {
    this.#freeSince = undefined;
  }

  /** Whether the turn has been free for so long. Of all who ask within `freshMs`, only the first one looks. */
  async isFreeFor(ms: number, freshMs: number): Promise<boolean> {
    const now = performance.now();
    if (now - this.#lookedAt < freshMs) return false;
    this.#lookedAt = now;
    if (await this.sessions.getTurn(this.key)) {
      this.#freeSince = undefined;
      return false;
    }
    this.#freeSince ??= performance.now();
    const isLong = performance.now() - this.#freeSince >= ms;
    // Who takes over looks again as soon as it is done.
    if (isLong) this.#lookedAt = -Infinity;
    return isLong;
  }

  async #watch(afterSeq: number): Promise<void> {
    try {
      for await (const event of this.sessions.watch({ ...this.key, afterSeq, signal: this.#ending.signal })) {
        this.#seq = event.seq;
        this.#learn(event);
        for (const member of this.#members) if (event.seq > member.entry.seq) member.notice(event);
      }
      this.#end();
    } catch (error) {
      this.#end({ error });
    }
  }

  /** Some events may be noticed before it knew of them: by others, which wait longer. */
  async #catchUp(member: QueueMember, upTo: number): Promise<void> {
    try {
      for (let afterSeq = member.entry.seq; afterSeq < upTo && this.#members.has(member);) {
        const { events } = await this.sessions.listEvents({ ...this.key, afterSeq, beforeSeq: upTo + 1, limit: PAGE });
        for (const event of events) member.notice(event);
        afterSeq = events.at(-1)?.seq ?? upTo;
      }
    } catch (error) {
      member.noticeEnd({ error });
    }
  }

  #learn(event: LoggedEvent): void {
    const entry = queueEntryOf(event);
    if (entry) this.remember(toQueuePlace(entry));
    for (const invocationId of dequeuedBy(event)) this.#known.delete(invocationId);
  }

  #forget(): void {
    const name = sessionNameOf(this.key);
    if (this.all.get(name) === this) this.all.delete(name);
  }

  #end(failure?: { readonly error: unknown }): void {
    this.#forget();
    for (const member of this.#members) member.noticeEnd(failure);
  }
}

const watchesOfServices = new WeakMap<SessionService, Map<string, QueueWatch>>();

/** The watch of a session, if a message of this process waits in it. */
export function queueWatchIn(sessions: SessionService, key: SessionKey): QueueWatch | undefined {
  return watchesOfServices.get(sessions)?.get(sessionNameOf(key));
}

/** The watch that all messages of this process share that wait in a session. */
export function queueWatchOf(sessions: SessionService, key: SessionKey): QueueWatch {
  const watches = watchesOfServices.get(sessions) ?? new Map<string, QueueWatch>();
  watchesOfServices.set(sessions, watches);
  return watches.get(sessionNameOf(key)) ?? new QueueWatch(sessions, key, watches);
}
