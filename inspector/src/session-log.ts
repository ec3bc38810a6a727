import { signal } from '@preact/signals';
import type { RemoteKey, WatchedEvent } from '../../src/client/index.js';
import type { LoggedEvent } from '../../src/sessions/domain/event.js';
import { EventWindows, WINDOW, windowOf } from './event-windows.js';
import { type Failure, failureOf } from './failures.js';
import { noteGone } from './gone-sessions.js';
import type { SessionReads, ShownSession } from './session-reads.js';

/** How far a call and its result may be apart to stand side by side. */
const MOST_STEPS = 20;
/** The view changes with each event, and is read at most this often. */
const VIEW_PAUSE_MS = 400;

/** Text of a running agent that is not stored yet. */
export interface PartialText {
  readonly id: string;
  readonly author: string;
  readonly text: string;
}

/** Why an event is not given to a model. */
export type HiddenReason = 'rewound' | 'summarised' | 'not in the view';

/** The log of one session, in windows, as it grows. */
export class SessionLog {
  /** The session with what a model is given now. */
  readonly session = signal<ShownSession | undefined>(undefined);
  readonly failure = signal<Failure | undefined>(undefined);
  readonly isOpen = signal(false);
  readonly isLive = signal(false);
  readonly firstSeq = signal(1);
  readonly lastSeq = signal(0);
  readonly partials = signal<readonly PartialText[]>([]);
  /** Changes whenever events came. */
  readonly revision = signal(0);
  readonly #windows = new EventWindows();
  /** The numbers of the events that a model is given now. */
  readonly #inView = new Set<number>();
  /** What was read of the events that take the log back. */
  readonly #rewinds = new Map<number, number>();
  readonly #reading = new Set<number>();
  #isFollowing = false;
  #viewReads = 0;
  #left = new AbortController();
  #viewTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly reads: SessionReads,
    readonly key: RemoteKey,
  ) {}

  /** Reads and follows the session, until it is closed. */
  open(): void {
    this.isOpen.value = true;
    this.#left = new AbortController();
    void this.#follow();
  }

  /** Asks for nothing more. */
  async close(): Promise<void> {
    this.isOpen.value = false;
    this.#left.abort();
    clearTimeout(this.#viewTimer);
    this.#viewTimer = undefined;
    // What reads more of the session leaves the page first.
    await new Promise((resolve) => setTimeout(resolve));
  }

  /** Reads again what failed. The session may be another one meanwhile. */
  retry(): void {
    this.failure.value = undefined;
    this.#windows.clear();
    this.#rewinds.clear();
    this.revision.value += 1;
    if (!this.#isFollowing) void this.#follow();
    else void this.#refreshed();
  }

  /**
   * Why a model is not given this event now, as far as it is known. What is newer than the view, or was left out for its size, is not known to
   * be hidden.
   */
  whyHidden(seq: number): HiddenReason | undefined {
    const session = this.session.value;
    if (!session || seq > session.version || this.#inView.has(seq) || this.#rewinds.has(seq)) return undefined;
    if (session.eventsTruncated === true && seq < (session.events[0]?.seq ?? 0)) return undefined;
    for (const [rewind, toSeq] of this.#rewinds) if (seq > toSeq && seq < rewind) return 'rewound';
    const summary = session.events.find(({ actions }) => actions.compaction)?.actions.compaction;
    return summary && seq <= summary.toSeq ? 'summarised' : 'not in the view';
  }

  eventAt(seq: number): LoggedEvent | undefined {
    return this.#windows.at(seq);
  }

  /** Whether an event was there before the session: forks and imports copy it with its time. */
  isOlder({ timestamp }: LoggedEvent): boolean {
    return timestamp < (this.session.value?.createTime ?? 0);
  }

  /** Whether the log has no such event, although it should. */
  isMissing(seq: number): boolean {
    return this.#windows.isMissing(seq);
  }

  /** The event that answers a tool call, if it is one of the next few and was read. */
  responseTo(call: string, after: number): LoggedEvent | undefined {
    for (let seq = after + 1; seq <= after + MOST_STEPS; seq++) {
      const event = this.eventAt(seq);
      if (event?.content?.parts?.some(({ functionResponse }) => functionResponse?.id === call)) return event;
    }
    return undefined;
  }

  /** Reads the events of this range that are not there, and remembers that they are looked at. */
  need(from: number, to: number): void {
    for (let index = windowOf(from); index <= windowOf(to); index++) {
      this.#windows.touch(index);
      const end = Math.min((index + 1) * WINDOW, this.lastSeq.value);
      const start = Math.max(index * WINDOW + 1, this.firstSeq.value);
      if (!this.#windows.isRead(index, start, end) && end >= this.firstSeq.value && !this.#reading.has(index))
        void this.#read(index, end);
    }
  }

  /** The session itself, its view and what it may be asked for. */
  async refresh(): Promise<void> {
    const read = ++this.#viewReads;
    const session = await this.reads.getSession(this.key);
    // Another one has begun later, so this answer may be older.
    if (this.#left.signal.aborted || read !== this.#viewReads) return;
    if (!session) {
      const detail = 'This session does not exist, or you may not see it.';
      this.#fail({ kind: 'missing', title: 'Not found', detail });
      return;
    }
    this.#inView.clear();
    for (const { seq } of session.events) this.#inView.add(seq);
    this.session.value = session;
    this.failure.value = undefined;
  }

  async #follow(): Promise<void> {
    const { signal: ended } = this.#left;
    this.#isFollowing = true;
    try {
      const { firstSeq, lastSeq, events } = await this.reads.listEvents({ ...this.key, limit: WINDOW, order: 'desc' });
      this.firstSeq.value = firstSeq;
      this.lastSeq.value = lastSeq;
      for (const event of events) this.#keep(event);
      this.revision.value += 1;
      await this.refresh();
      this.isLive.value = true;
      for await (const event of this.reads.watch({ ...this.key, afterSeq: lastSeq, partials: true, signal: ended })) {
        this.#take(event);
      }
    } catch (error) {
      if (!ended.aborted) this.#fail(failureOf(error));
    } finally {
      this.isLive.value = false;
      this.#isFollowing = false;
    }
  }

  async #refreshed(): Promise<void> {
    try {
      await this.refresh();
    } catch (error) {
      if (!this.#left.signal.aborted) this.#fail(failureOf(error));
    }
  }

  #fail(failure: Failure): void {
    this.failure.value = failure;
    if (failure.kind === 'missing') noteGone(this.key);
  }

  #take(event: WatchedEvent): void {
    if (event.partial === true) {
      this.partials.value = withPartial(this.partials.value, event);
      return;
    }
    this.#keep(event);
    this.lastSeq.value = Math.max(this.lastSeq.value, event.seq);
    this.partials.value = this.partials.value.filter(({ id }) => id !== event.id);
    if (event.actions.stop || event.actions.rewind || event.interrupted) this.partials.value = [];
    this.revision.value += 1;
    this.#viewTimer ??= setTimeout(() => {
      this.#viewTimer = undefined;
      void this.#refreshed();
    }, VIEW_PAUSE_MS);
  }

  async #read(index: number, end: number): Promise<void> {
    this.#reading.add(index);
    try {
      let afterSeq = index * WINDOW;
      while (afterSeq < end) {
        const limit = end - afterSeq;
        const { events, firstSeq } = await this.reads.listEvents({ ...this.key, afterSeq, limit });
        // The oldest events may have been trimmed.
        if (firstSeq > this.firstSeq.value) this.firstSeq.value = firstSeq;
        if (this.#left.signal.aborted) return;
        for (const event of events) this.#keep(event);
        afterSeq = events.at(-1)?.seq ?? end;
        this.revision.value += 1;
      }
      this.#windows.noteRead(index, end);
      this.revision.value += 1;
    } catch (error) {
      if (!this.#left.signal.aborted) this.#fail(failureOf(error));
    } finally {
      this.#reading.delete(index);
    }
  }

  #keep(event: LoggedEvent): void {
    if (event.actions.rewind) this.#rewinds.set(event.seq, event.actions.rewind.toSeq);
    this.#windows.keep(event);
  }
}

/** Adds a piece to the text with its id. Pieces say where they begin, so that none counts twice. */
function withPartial(partials: readonly PartialText[], event: WatchedEvent): readonly PartialText[] {
  const { id, author = '', content } = event;
  const piece = content?.parts?.map(({ text = '', thought }) => (thought ? '' : text)).join('') ?? '';
  const known = partials.find((each) => each.id === id);
  const { offset } = event as { readonly offset?: number };
  const before = known?.text ?? '';
  const text = (offset === undefined ? before : before.slice(0, offset)) + piece;
  return [...partials.filter((each) => each.id !== id), { id, author, text }];
}
