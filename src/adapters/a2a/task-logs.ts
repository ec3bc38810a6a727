import { isRewind, readPages, sessionNameOf } from '../../adapter.js';
import { type LoggedEvent, type SessionKey, SessionNotFoundError, type SessionService } from '../../index.js';
import { TaskFold, foldLog } from './task-fold.js';
import type { TaskJson } from './task-json.js';

/** A task as the log says it. */
export interface ReadTask {
  /** The last event that is known. */
  readonly seq: number;
  /** `undefined` if the session holds no task. */
  readonly task: TaskJson | undefined;
}

const MOST_REMEMBERED = 200;
const MOST_REMEMBERED_BYTES = 33_554_432;
const PAGE = 1_000;

/** Reads tasks. Of those that this process read lately, only what is new in their logs. */
export class TaskLogs {
  /** The last one used is last. */
  readonly #folds = new Map<string, TaskFold>();

  constructor(private readonly sessions: SessionService) {}

  /** `undefined` if there is no session. */
  async read(key: SessionKey): Promise<ReadTask | undefined> {
    try {
      const fold = (await this.#continued(key)) ?? (await this.#whole(key));
      return this.#remember(key, fold);
    } catch (error) {
      this.forget(key);
      if (error instanceof SessionNotFoundError) return undefined;
      throw error;
    }
  }

  /** What is known without a look at the store. */
  known(key: SessionKey): ReadTask | undefined {
    const fold = this.#folds.get(sessionNameOf(key));
    return fold && { seq: fold.last.seq, task: fold.task };
  }

  /** Notes what was appended after event `seq`. */
  learn(key: SessionKey, seq: number, events: readonly LoggedEvent[]): void {
    const fold = this.#folds.get(sessionNameOf(key)) ?? new TaskFold();
    if (fold.last.seq !== seq) return;
    fold.add(events);
    this.#remember(key, fold);
  }

  forget(key: SessionKey): void {
    this.#folds.delete(sessionNameOf(key));
  }

  #remember(key: SessionKey, fold: TaskFold): ReadTask {
    const name = sessionNameOf(key);
    this.#folds.delete(name);
    if (fold.last.seq > 0) this.#folds.set(name, fold);
    let bytes = 0;
    for (const { bytes: each } of this.#folds.values()) bytes += each;
    for (const [oldest, { bytes: each }] of this.#folds) {
      if (this.#folds.size <= MOST_REMEMBERED && bytes <= MOST_REMEMBERED_BYTES) break;
      this.#folds.delete(oldest);
      bytes -= each;
    }
    return { seq: fold.last.seq, task: fold.task };
  }

  /** `undefined` if the log is another one now, was rewound, or is not known. */
  async #continued(key: SessionKey): Promise<TaskFold | undefined> {
    const fold = this.#folds.get(sessionNameOf(key));
    if (!fold) return undefined;
    const { seq, id } = fold.last;
    const [last, ...news] = await this.#after(key, seq - 1);
    if (last?.seq !== seq || last.id !== id || news.some(isRewind)) return undefined;
    fold.add(news);
    return fold;
  }

  async #whole(key: SessionKey): Promise<TaskFold> {
    return foldLog(await this.#after(key, 0));
  }

  async #after(key: SessionKey, afterSeq: number): Promise<LoggedEvent[]> {
    const events: LoggedEvent[] = [];
    const pages = readPages((cursor) => this.sessions.listEvents({ ...key, afterSeq, cursor, limit: PAGE }));
    for await (const page of pages) events.push(...page.events);
    return events;
  }
}
