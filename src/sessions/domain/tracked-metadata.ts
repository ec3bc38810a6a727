import type { SessionMetadata } from './metadata.js';
import { type MetadataChange, type MetadataText, metadataEntries } from './metadata-entries.js';
import { sessionMetadata } from './session-metadata.js';

/** The metadata that a session object knows. Parallel appends may complete in any order: of each entry the newest counts. */
export class TrackedMetadata {
  readonly #entries: Map<string, string>;
  /** The newest event that changed each entry, for events after the version of the object. */
  readonly #seqs = new Map<string, number>();

  constructor(text: MetadataText) {
    this.#entries = metadataEntries(text);
  }

  apply(changes: readonly MetadataChange[], seq: number): void {
    for (const [name, value] of changes) {
      if ((this.#seqs.get(name) ?? 0) >= seq) continue;
      this.#seqs.set(name, seq);
      if (value === null) this.#entries.delete(name);
      else this.#entries.set(name, value);
    }
  }

  forgetSeqsUpTo(version: number): void {
    for (const [name, seq] of this.#seqs) if (seq <= version) this.#seqs.delete(name);
  }

  get current(): SessionMetadata {
    return sessionMetadata(this.#entries);
  }
}
