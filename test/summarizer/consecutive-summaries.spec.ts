import fc from 'fast-check';
import { isSummary } from '../../src/sessions/domain/event/event-inspection.js';
import type { LoggedEvent } from '../../src/index.js';
import { textOfSummary } from '../../src/summarizer/index.js';
import { toConversationLines } from '../../src/summarizer/conversation/conversation-lines.js';
import { TIMEOUT_MS, runsOr, searching } from '../differential/runs.js';
import { seed } from '../support/random.js';
import { storeOfEachKind } from '../support/stores.js';
import { eventsOf } from './log-notation.js';
import { KEY, SESSION, SummarizedSessions } from './summarized-sessions.js';

interface Plan {
  readonly keepRecentEvents: number;
  readonly maxInputLength: number;
  readonly segments: number;
  /** The events to append before each summary, in short notation. */
  readonly rounds: readonly string[];
}

const word = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('u', 'a', 's', 'u a', 'u +a -a') },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom('+', '-'), fc.constantFrom('x', 'y')).map((call) => call.join('')) },
);

const plans: fc.Arbitrary<Plan> = fc.record({
  keepRecentEvents: fc.nat(6),
  maxInputLength: fc.integer({ min: 5, max: 200 }),
  segments: fc.integer({ min: 1, max: 3 }),
  rounds: fc.array(
    fc.array(word, { minLength: 1, maxLength: 16 }).map((words) => words.join(' ')),
    { minLength: 1, maxLength: 5 },
  ),
});

/** Records the events that the model gets, and the log. */
class Series {
  readonly shown: LoggedEvent[][] = [];
  log: LoggedEvent[] = [];

  constructor(
    readonly open: SummarizedSessions,
    readonly plan: Plan,
  ) {
    open.summaries.hooks.onBeforeSummary(({ events }) => void this.shown.push([...events]));
  }

  async run(): Promise<void> {
    for (const round of this.plan.rounds) {
      await this.open.append(...eventsOf(round));
      const before = await this.open.log();
      await this.open.summaries.createSessionSummary({ session: SESSION, force: true });
      this.log = await this.open.log();
      expect(this.log.slice(0, before.length)).toEqual(before);
      expect(this.log.slice(before.length).every(isSummary)).toBe(true);
      await this.#expectView();
    }
    this.#expectShown();
  }

  /** Checks that a new reader sees the current summary and all later events. */
  async #expectView(): Promise<void> {
    const again = this.open.restarted({ autoSummarize: false });
    const view = (await again.sessions.getSession(KEY))?.events ?? [];
    await again.destroy();
    const summary = this.log.findLast(isSummary);
    const boundary = summary?.actions.compaction?.toSeq ?? 0;
    const rest = this.log.filter((event) => event.seq > boundary && !isSummary(event));
    expect(view).toEqual(summary ? [summary, ...rest] : rest);
    if (summary) expect(rest.length).toBeGreaterThanOrEqual(this.plan.keepRecentEvents);
  }

  /** Checks that the model got each summarised event once, in order, and the previous summary each time, of which only full ones ended. */
  #expectShown(): void {
    const { requests } = this.open.model;
    const { segments } = this.plan;
    const boundary = this.log.findLast(isSummary)?.actions.compaction?.toSeq ?? 0;
    const summarised = this.log.filter((event) => event.seq <= boundary && !isSummary(event));
    const shown = this.shown.filter((events) => toConversationLines(events).length > 0);
    expect(shown.flat().map(({ seq }) => seq)).toEqual(summarised.map(({ seq }) => seq));
    expect(requests.map(({ conversation }) => conversation.map(({ author }) => author))).toEqual(
      shown.map((events) => toConversationLines(events).map(({ author }) => author)),
    );
    expect(requests.map(({ previousSummary }) => previousSummary)).toEqual(
      requests.map((_request, index) => textUpTo(index, segments)),
    );
    expect(requests.map(({ isSegment }) => isSegment)).toEqual(
      requests.map((_request, index) => index % segments !== 0),
    );
    for (const [index, { prompt }] of requests.entries()) {
      expect(prompt.split(`\nsummary ${index}\n`)).toHaveLength(index === 0 ? 1 : 2);
    }
    const summaries = this.log.filter(isSummary);
    expect(summaries.map(textOfSummary)).toEqual(summaries.map((_summary, index) => textUpTo(index + 1, segments)));
    for (const [index, { content }] of summaries.entries()) {
      const before = summaries[index - 1]?.content?.parts ?? [];
      if (index % segments > 0) expect(content?.parts?.slice(0, -1)).toEqual(before);
    }
  }
}

/** What the summary says after so many answers of the model. */
function textUpTo(count: number, segments: number): string | undefined {
  if (count === 0) return undefined;
  const first = count - ((count - 1) % segments);
  return Array.from({ length: count - first + 1 }, (_, index) => `summary ${first + index}`).join('\n');
}

describe.each(storeOfEachKind)('consecutive summaries on $name', (store) => {
  it(
    `give each event to the model once and do not change the log, SEED=${seed}`,
    async () => {
      const holds = fc.asyncProperty(plans, async (plan) => {
        const { rounds: _, ...options } = plan;
        const open = await SummarizedSessions.open(store, { ...options, autoSummarize: false });
        try {
          await new Series(open, plan).run();
        } finally {
          await open.destroy();
        }
      });
      await fc.assert(holds, { ...searching, numRuns: runsOr(store.name === 'memory' ? 60 : 6) });
    },
    TIMEOUT_MS,
  );
});
