import fc from 'fast-check';
import type { EventInput, SessionKey } from '../../src/index.js';
import { factsOf } from '../../src/summarizer/summary-due.js';
import { TIMEOUT_MS, runsOr, searching } from '../differential/runs.js';
import { seed } from '../support/random.js';
import type { StoreName } from '../support/store-names.js';
import { storeOfEachKind } from '../support/stores.js';
import { Recount } from './counter-model.js';
import { KEY, SummarizedSessions, agent, answer, call, user } from './summarized-sessions.js';

type Step =
  | { readonly kind: 'append'; readonly event: EventInput }
  | { readonly kind: 'summarise' }
  /** Positions are taken modulo the length of the log. */
  | { readonly kind: 'foreign summary' | 'rewind' | 'fork'; readonly place: number }
  | { readonly kind: 'undo the last rewind' };

const text = fc.constantFrom('', 'x', 'two words', '😀');
const event: fc.Arbitrary<EventInput> = fc.oneof(
  text.map(user),
  text.map(agent),
  fc.nat(50).map((totalTokenCount) => ({ ...agent('spent'), usageMetadata: { totalTokenCount } })),
  fc.constantFrom(call('x'), answer('x'), { author: 'system', actions: { stateDelta: { a: 1 } } }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: event.map((appended) => ({ kind: 'append' as const, event: appended })) },
  { weight: 2, arbitrary: fc.constant({ kind: 'summarise' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'undo the last rewind' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('foreign summary' as const, 'rewind' as const, 'fork' as const),
      place: fc.nat(1_000),
    }),
  },
);

class CountedSession {
  #key: SessionKey = KEY;
  #forks = 0;

  constructor(private readonly open: SummarizedSessions) {}

  async take(next: Step): Promise<void> {
    const { sessions, summaries } = this.open;
    const { sessionId: id, ...owner } = this.#key;
    const session = { id, ...owner };
    const log = await this.#log();
    if (next.kind === 'append') await sessions.appendEvent({ session, event: next.event });
    if (next.kind === 'summarise') await summaries.createSessionSummary({ session, force: true });
    if (next.kind === 'rewind') await sessions.rewindSession({ ...this.#key, toSeq: next.place % (log.length + 1) });
    if (next.kind === 'foreign summary' && log.length > 0) {
      const compaction = { fromSeq: 1, toSeq: (next.place % log.length) + 1 };
      await sessions.appendEvent({ session, event: { ...agent('foreign'), actions: { compaction } } });
    }
    if (next.kind === 'undo the last rewind') {
      const rewind = log.findLast(({ actions }) => actions.rewind);
      if (rewind) await sessions.rewindSession({ ...this.#key, toSeq: rewind.seq - 1 });
    }
    if (next.kind === 'fork') await this.#fork(next.place % (log.length + 1));
    await this.expectCounted();
  }

  /** Checks that a new service gets the same counters as a count of the log. */
  async expectCounted(): Promise<void> {
    const recount = new Recount(await this.#log());
    const read = await this.open.storage.read({ key: this.#key });
    if (!read) throw new Error('The session does not exist');
    expect(factsOf(this.#key, read, undefined).since).toEqual(recount.since);
    expect(read.record.counters).toEqual(recount.total);
    const again = this.open.restarted({ autoSummarize: false });
    const session = await again.sessions.getSession(this.#key);
    await again.destroy();
    expect(session?.conversationCount).toBe(recount.total.turns);
    const seen = session?.events.filter(({ actions }) => !actions.compaction);
    expect(seen).toHaveLength(recount.since.events);
  }

  /** Continues in the fork, whose counters must match those of the source at that point. */
  async #fork(atSeq: number): Promise<void> {
    const source = new Recount(await this.#log());
    const newSessionId = `fork ${++this.#forks}`;
    await this.open.sessions.forkSession({ ...this.#key, atSeq, newSessionId });
    this.#key = { ...this.#key, sessionId: newSessionId };
    expect(new Recount(await this.#log()).since).toEqual(source.sinceAt(source.at(atSeq)));
  }

  async #log() {
    return (await this.open.sessions.listEvents({ ...this.#key, limit: 1_000 })).events;
  }
}

const RUNS: Partial<Record<StoreName, number>> = { memory: 50, sqlite: 20 };

describe.each(storeOfEachKind)('counters since the last summary on $name', (store) => {
  it(
    `equal a count of the log after any operations, SEED=${seed}`,
    async () => {
      const holds = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const open = await SummarizedSessions.open(store, { keepRecentEvents: 1, autoSummarize: false });
        try {
          const session = new CountedSession(open);
          for (const next of steps) await session.take(next);
        } finally {
          await open.destroy();
        }
      });
      await fc.assert(holds, { ...searching, numRuns: runsOr(RUNS[store.name] ?? 4) });
    },
    TIMEOUT_MS,
  );
});
