import { signal } from '@preact/signals';
import type { RemoteKey, WatchedEvent } from '../../src/client/index.js';
import type { ExplainedEvent } from '../../src/sessions/operations/explain-view.js';
import type { LoggedEvent } from '../../src/sessions/domain/event/event.js';
import { EventWindows, WINDOW, windowOf } from './event-windows.js';
import { type Decision, ExplainedEvents } from './explained-events.js';
import type { CoveredEvents } from '../../src/summarizer/summary-outlook.js';
import type { ModelRequestReport } from '../../src/sessions/domain/event/request-report.js';
import { type Failure, failureOf } from './failures.js';
import { noteGone } from './gone-sessions.js';
import { type SessionReads, type ShownSession, explainedEvents } from './session-reads.js';

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
  /** The request that is looked at, to be drawn in the timeline. */
  readonly request = signal<ModelRequestReport | undefined>(undefined);
  /** What the next summary would replace, while somebody looks at it. */
  readonly wouldCover = signal<CoveredEvents | undefined>(undefined);
  /** Changes whenever events came. */
  readonly revision = signal(0);
  readonly #windows = new EventWindows();
  readonly #explained = new ExplainedEvents();
  readonly #explaining = new Set<number>();
  /** Counts the views that were read. */
  #view = 0;
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
    this.#explained.clear();
    this.revision.value += 1;
    if (!this.#isFollowing) void this.#follow();
    else void this.#refreshed();
  }

  /** Why a model is given this event now, or not; nothing until it was read. */
  decisionOn(seq: number): Decision | undefined {
    return this.#explained.at(seq);
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
      if (this.#view > 0 && !this.#explained.isFor(this.#view, index) && !this.#explaining.has(index))
        void this.#explain(index, end);
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
    this.session.value = session;
    this.failure.value = undefined;
    // What is looked at is explained again.
    this.#view += 1;
    this.revision.value += 1;
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

  async #explain(index: number, toSeq: number): Promise<void> {
    this.#explaining.add(index);
    const view = this.#view;
    try {
      const part = { ...this.key, fromSeq: index * WINDOW + 1, toSeq, limit: WINDOW };
      const events: ExplainedEvent[] = [];
      for await (const page of explainedEvents(this.reads, part)) {
        if (this.#left.signal.aborted) return;
        events.push(...page);
      }
      this.#explained.keep(view, index, events);
      this.revision.value += 1;
    } catch (error) {
      if (!this.#left.signal.aborted) this.#fail(failureOf(error));
    } finally {
      this.#explaining.delete(index);
    }
  }

  #keep(event: LoggedEvent): void {
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
