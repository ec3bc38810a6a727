import { inBatches } from '../sessions/domain/stored/batches.js';
import type { SearchEntry, SearchIndex } from '../sessions/storage/search-index.js';

interface WaitingEntry {
  readonly entry: SearchEntry;
  readonly done: () => void;
  readonly fail: (error: unknown) => void;
}

/** Limits how long a transaction takes. */
export const PER_TRANSACTION = {
  items: 64,
  weight: 500_000,
  weightOf: ({ text, terms }: SearchEntry): number => text.length + terms.length * 20,
};

/** Entries that wait at the same time share a transaction: while an index is filled, the disk is what takes long. */
export class EntryBatches {
  #waiting: WaitingEntry[] = [];
  #isWriting = false;

  constructor(
    private readonly index: SearchIndex,
    private readonly trimsLogs: boolean,
  ) {}

  /** Resolves when the entry is stored. */
  add(entry: SearchEntry): Promise<void> {
    return new Promise((done, fail) => {
      this.#waiting.push({ entry, done, fail });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const taken = this.#waiting;
      this.#waiting = [];
      const weightOf = ({ entry }: WaitingEntry): number => PER_TRANSACTION.weightOf(entry);
      for (const batch of inBatches(taken, { ...PER_TRANSACTION, weightOf })) await this.#write(batch);
    }
    this.#isWriting = false;
  }

  /** An entry that fails harms no other one. */
  async #write(batch: readonly WaitingEntry[]): Promise<void> {
    try {
      await this.index.add(
        batch.map(({ entry }) => entry),
        this.trimsLogs,
      );
      for (const { done } of batch) done();
    } catch (error) {
      const [first, ...others] = batch;
      if (others.length === 0) first?.fail(error);
      else for (const one of batch) await this.#write([one]);
    }
  }
}
