import { signal } from '@preact/signals';
import type { SearchHit } from '../../src/search/found-events.js';
import type { Api } from './api.js';
import type { Failure } from './failures.js';
import { Reading } from './reading.js';

/** The hits of one session, the best first. */
export interface FoundSession {
  readonly sessionId: string;
  readonly hits: readonly SearchHit[];
}

/** What a search finds in the sessions of a user, page by page. */
export class FoundEvents {
  readonly hits = signal<readonly SearchHit[] | undefined>(undefined);
  readonly failure = signal<Failure | undefined>(undefined);
  readonly isReading = signal(false);
  /** Whether there may be more: further hits, or events that nobody looked at yet. */
  readonly left = signal<'nothing' | 'hits' | 'events'>('nothing');
  readonly #reading = new Reading(() => this.#note());
  #cursor: string | undefined;

  constructor(
    private readonly api: Api,
    private readonly wanted: { readonly appName: string; readonly userId: string; readonly text: string },
  ) {}

  /** Reads the next page. */
  async more(): Promise<void> {
    await this.#reading.run(async () => {
      const page = await this.api.client.searchEvents({ ...this.wanted, cursor: this.#cursor });
      this.#cursor = page.nextCursor;
      this.left.value = page.nextCursor === undefined ? 'nothing' : page.isComplete ? 'hits' : 'events';
      this.hits.value = [...(this.hits.value ?? []), ...page.hits];
    });
  }

  #note(): void {
    this.isReading.value = this.#reading.isRunning;
    this.failure.value = this.#reading.failure;
  }
}

/** By session, in the order of the best hit of each. */
export function groupBySession(hits: readonly SearchHit[]): readonly FoundSession[] {
  const groups = new Map<string, SearchHit[]>();
  for (const hit of hits) {
    const known = groups.get(hit.sessionId);
    if (known) known.push(hit);
    else groups.set(hit.sessionId, [hit]);
  }
  return [...groups].map(([sessionId, own]) => ({ sessionId, hits: own }));
}
