import { type Answer, isAnswer } from '../../src/sessions/domain/event/event-inspection.js';
import type { Failure } from './failures.js';
import { Reading } from './reading.js';
import type { SessionLog } from './session-log.js';
import type { SessionReads } from './session-reads.js';
import { clockTime } from './times.js';

/** Answers of one request. The routes look at a thousand events for them. */
const PAGE = 100;
/** So many pages in a row are read, if there is no answer in them. */
const MOST_PAGES = 10;

/** What a list shows of an answer. */
export type ListedAnswer = Pick<Answer, 'seq' | 'author' | 'modelVersion' | 'timestamp'>;

/** The answers of a log that say what their model was given: the newest, those that come, and earlier ones when asked. */
export class RequestLog {
  #answers: readonly ListedAnswer[] = [];
  #isWhole = false;
  /** What is being read follows the log by itself. */
  readonly #reading: Reading;
  #cursor: string | undefined;
  #first: number | undefined;
  /** How far the log was looked at. */
  #end = 0;
  #lastSeq = 0;
  #isClosed = false;

  constructor(
    private readonly reads: Pick<SessionReads, 'listEvents'>,
    private readonly log: Pick<SessionLog, 'key' | 'eventAt'>,
    /** Is told of each change. */
    private readonly onChange: () => void,
  ) {
    this.#reading = new Reading(onChange);
  }

  /** In the order of the log. */
  get answers(): readonly ListedAnswer[] {
    return this.#answers;
  }

  /** Whether there are no earlier ones. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  get isReading(): boolean {
    return this.#reading.isRunning;
  }

  get failure(): Failure | undefined {
    return this.#reading.failure;
  }

  /** Reads what there is up to this event. */
  async follow(lastSeq: number): Promise<void> {
    // Another session with this id has begun.
    if (lastSeq < this.#lastSeq) {
      this.#answers = [];
      this.#first = undefined;
      this.#cursor = undefined;
      this.#isWhole = false;
    }
    this.#lastSeq = lastSeq;
    await this.#reading.run(async () => {
      if (this.#first === undefined) await this.#begin();
      await this.#readNewer();
    });
  }

  /** Looks for earlier ones. */
  async readOlder(): Promise<void> {
    await this.#reading.run(async () => {
      if (this.#first === undefined) await this.#begin();
      else await this.#readOlder();
      await this.#readNewer();
    });
  }

  close(): void {
    this.#isClosed = true;
  }

  async #begin(): Promise<void> {
    const first = this.#lastSeq + 1;
    this.#end = this.#lastSeq;
    this.#cursor = undefined;
    await this.#readOlder(first);
    this.#first = first;
  }

  async #readOlder(beforeSeq = this.#first): Promise<void> {
    for (let page = 0; page < MOST_PAGES && !this.#isWhole && !this.#isClosed; page++) {
      const part = { ...this.log.key, modelRequests: true, order: 'desc', limit: PAGE, beforeSeq } as const;
      const { events, nextCursor } = await this.reads.listEvents({ ...part, cursor: this.#cursor });
      this.#cursor = nextCursor;
      this.#isWhole = nextCursor === undefined;
      this.#keep([...events.toReversed().filter(isAnswer).map(listed), ...this.#answers]);
      if (events.length > 0) return;
    }
  }

  async #readNewer(): Promise<void> {
    while (this.#end < this.#lastSeq && !this.#isClosed) {
      const end = this.#lastSeq;
      const { key } = this.log;
      let cursor: string | undefined;
      const found: Answer[] = [];
      do {
        const part = { ...key, modelRequests: true, afterSeq: this.#end, beforeSeq: end + 1, limit: PAGE, cursor };
        const { events, nextCursor } = await this.reads.listEvents(part);
        found.push(...events.filter(isAnswer));
        cursor = nextCursor;
      } while (cursor !== undefined && !this.#isClosed);
      this.#end = end;
      this.#keep([...this.#answers, ...found.map(listed)]);
    }
  }

  #keep(answers: readonly ListedAnswer[]): void {
    this.#answers = answers;
    this.onChange();
  }
}

function listed({ seq, author, modelVersion, timestamp }: Answer): ListedAnswer {
  return { seq, author, modelVersion, timestamp };
}

/** The answer that is looked at by its number, or else the last one up to an event, or else the first one. */
export function chosenAnswer(
  answers: readonly ListedAnswer[],
  wanted: number | undefined,
  seq: number,
): number | undefined {
  return wanted ?? (answers.findLast((answer) => answer.seq <= seq) ?? answers[0])?.seq;
}

/** An answer in a list to choose from. */
export function answerText({ seq, author, modelVersion, timestamp }: ListedAnswer): string {
  return [`${seq}`, clockTime(timestamp), author, modelVersion].filter((each) => each).join(' · ');
}
