import fc from 'fast-check';
import type { Agenda, AgendaEntry } from '../../src/storage.js';
import { ManualClock } from '../../src/testing/index.js';
import { seed } from '../support/random.js';
import { storesAboveThePort } from '../support/stores.js';
import { TIMEOUT_MS, searching, sequencesOf } from './runs.js';

type Step =
  | { readonly kind: 'put'; readonly name: string; readonly inMs: number }
  | { readonly kind: 'due'; readonly limit: number }
  | { readonly kind: 'remove'; readonly place: number }
  | { readonly kind: 'remove all'; readonly prefix: string }
  | { readonly kind: 'wait'; readonly ms: number };

const steps = (length: number) =>
  fc.array(
    fc.oneof<fc.Arbitrary<Step>[]>(
      fc.record({ kind: fc.constant('put'), name: fc.constantFrom('a', 'A', 'é', '～', '😀'), inMs: fc.nat(20) }),
      fc.record({ kind: fc.constant('due'), limit: fc.integer({ min: 1, max: 6 }) }),
      fc.record({ kind: fc.constant('remove'), place: fc.nat(5) }),
      fc.record({ kind: fc.constant('remove all'), prefix: fc.constantFrom('a', 'é', '😀') }),
      fc.record({ kind: fc.constant('wait'), ms: fc.nat(10) }),
    ),
    { minLength: length, maxLength: length },
  );

/** The contract of an agenda, implemented in the simplest way. */
class ModelAgenda implements Agenda {
  #entries: AgendaEntry[] = [];

  constructor(private readonly clock: ManualClock) {}

  async put(name: string, inMs: number): Promise<void> {
    const before = this.#entries.find((entry) => entry.name === name);
    const dueAt = Math.max(before?.dueAt ?? -Infinity, this.clock.now() + inMs);
    this.#entries = [...this.#entries.filter((entry) => entry !== before), { name, dueAt }];
  }

  async due(limit: number): Promise<AgendaEntry[]> {
    return this.#entries
      .filter(({ dueAt }) => dueAt <= this.clock.now())
      .toSorted((a, b) => a.dueAt - b.dueAt || Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
      .slice(0, limit);
  }

  async remove({ name, dueAt }: AgendaEntry): Promise<void> {
    this.#entries = this.#entries.filter((entry) => entry.name !== name || entry.dueAt !== dueAt);
  }

  async removeAll(prefix: string): Promise<void> {
    this.#entries = this.#entries.filter(({ name }) => !name.startsWith(prefix));
  }
}

describe.each(storesAboveThePort)('the agenda of $name', ({ name, open }) => {
  it(
    `behaves like its model (SEED=${seed})`,
    async () => {
      const { numRuns, length } = sequencesOf(name);
      await fc.assert(
        fc.asyncProperty(steps(length), async (sequence) => {
          const clock = new ManualClock();
          const { storage, destroy } = await open({ clock });
          try {
            expect(await resultsOf(storage.agenda, clock, sequence)).toEqual(await modelResultsOf(sequence));
          } finally {
            await destroy();
          }
        }),
        { ...searching, numRuns },
      );
    },
    TIMEOUT_MS,
  );
});

function modelResultsOf(sequence: readonly Step[]): Promise<unknown[]> {
  const clock = new ManualClock();
  return resultsOf(new ModelAgenda(clock), clock, sequence);
}

/** The results of all `due` steps. A `remove` step removes an entry that an earlier `due` step returned. */
async function resultsOf(agenda: Agenda, clock: ManualClock, sequence: readonly Step[]): Promise<unknown[]> {
  const read: AgendaEntry[] = [];
  const results: AgendaEntry[][] = [];
  for (const step of sequence) {
    if (step.kind === 'put') await agenda.put(step.name, step.inMs);
    if (step.kind === 'remove all') await agenda.removeAll(step.prefix);
    if (step.kind === 'wait') clock.advance(step.ms);
    if (step.kind === 'due') {
      const entries = await agenda.due(step.limit);
      results.push(entries);
      read.unshift(...entries);
    }
    const entry = step.kind === 'remove' ? read[step.place] : undefined;
    if (entry) await agenda.remove(entry);
  }
  return results;
}
