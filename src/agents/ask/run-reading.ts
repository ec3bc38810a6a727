import { setTimeout as delay } from 'node:timers/promises';
import type { LoggedEvent } from '../../sessions/domain/event/event.js';
import type { AgentRun } from './agent-run.js';
import type { RunEvent } from '../turn/run-events.js';

/** How long a stream waits for a run that cannot begin, so that it is refused like a request that is wrong. */
const BEGIN_MS = 250;

type Result = IteratorResult<RunEvent, undefined>;

/** What a client reads of runs. The runs go on if it stops. */
export class RunReading implements AsyncIterator<RunEvent, undefined> {
  readonly #ended = new AbortController();
  #first: Promise<Result> | undefined;
  readonly #events: AsyncGenerator<RunEvent, undefined>;

  private constructor(runs: readonly Promise<AgentRun>[], withPartials: boolean) {
    this.#events = readRunEvents(runs, withPartials, this.#ended.signal);
  }

  /**
   * Begins the runs, one after the other. Resolves with the first event, or after a while; throws if the first one cannot
   * begin.
   */
  static async open(starts: readonly (() => AgentRun)[], withPartials: boolean): Promise<RunReading> {
    const reading = new RunReading(beginInOrder(starts), withPartials);
    reading.#first = reading.#events.next();
    reading.#first.catch(() => undefined);
    await Promise.race([reading.#first, delay(BEGIN_MS)]);
    return reading;
  }

  next(): Promise<Result> {
    const first = this.#first;
    this.#first = undefined;
    return first ?? this.#events.next();
  }

  /** Ends the reading, also while `next()` is pending. */
  async return(): Promise<Result> {
    this.#ended.abort();
    return this.#events.return(undefined);
  }
}

/**
 * Begins each run when the one before it is over, whether or not somebody reads.
 *
 * @example const [first] = beginInOrder(answers.map((answer) => () => registry.answerApproval(answer)));
 */
export function beginInOrder([first, ...others]: readonly (() => AgentRun)[]): Promise<AgentRun>[] {
  if (!first) return [];
  const runs = [Promise.resolve().then(first)];
  for (const start of others) {
    const before = runs.at(-1);
    runs.push(Promise.resolve(before).then(async (run) => (await run?.result, start())));
  }
  // A reader of the events gets the failure.
  for (const run of runs) run.catch(() => undefined);
  return runs;
}

/** Events once each: answers to approvals of one invocation have the same events, if they are repeated. */
export function withoutRepeated<Event extends RunEvent>(): (event: Event) => boolean {
  const known = new Set<number>();
  return (event) => {
    const { seq } = event as Partial<LoggedEvent>;
    if (seq === undefined) return true;
    const isNew = !known.has(seq);
    known.add(seq);
    return isNew;
  };
}

async function* readRunEvents(
  runs: readonly Promise<AgentRun>[],
  withPartials: boolean,
  signal: AbortSignal,
): AsyncGenerator<RunEvent, undefined> {
  const isNew = withoutRepeated();
  for (const run of runs) {
    for await (const event of (await run).read({ signal })) {
      if ((withPartials || event.partial !== true) && isNew(event)) yield event;
    }
  }
  return undefined;
}
