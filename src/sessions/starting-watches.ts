import type { AppendOutcome, Commit } from './domain/stored/commit.js';
import { type SessionKey, sessionNameOf } from './domain/values/ids.js';
import { remembered } from './storage/remembered.js';
import type { SessionStorage } from './storage/session-storage.js';

/**
 * A watch that reads where its session ends now. Its read may see an event that this process appended after the call of
 * the watch, since the store may answer both in any order. So the watch also follows the appends that begin meanwhile.
 */
class StartingWatch {
  readonly #appends: Promise<void>[] = [];
  #firstSeq = Infinity;

  constructor(readonly sessionName: string) {}

  follow({ events }: Commit, append: Promise<AppendOutcome>): void {
    const note = (outcome: AppendOutcome): void => {
      if (outcome.kind !== 'appended') return;
      this.#firstSeq = Math.min(this.#firstSeq, outcome.record.lastSeq - events.length + 1);
    };
    this.#appends.push(append.then(note, () => undefined));
  }

  /** The end of the log at the call of the watch, if a read found the end at `lastSeq`. */
  async endAtCall(lastSeq: number): Promise<number> {
    await Promise.all(this.#appends);
    return Math.min(lastSeq, this.#firstSeq - 1);
  }
}

/** The watches of this process that are about to start. While there are none, an append pays nothing for it. */
export class StartingWatches {
  readonly #watches = new Set<StartingWatch>();

  /** Returns the end of the log at this call, and what `read` returns. */
  async endOfLog<Read extends { readonly record: { readonly lastSeq: number } }>(
    key: SessionKey,
    read: () => Promise<Read>,
  ): Promise<Read & { readonly seq: number }> {
    const watch = new StartingWatch(sessionNameOf(key));
    this.#watches.add(watch);
    try {
      const found = await read();
      return { ...found, seq: await watch.endAtCall(found.record.lastSeq) };
    } finally {
      this.#watches.delete(watch);
    }
  }

  /** Call it when an append begins, before anything else can happen. */
  follow(commit: Commit, append: Promise<AppendOutcome>): void {
    if (this.#watches.size === 0) return;
    const name = sessionNameOf(commit.key);
    for (const watch of this.#watches) if (watch.sessionName === name) watch.follow(commit, append);
  }
}

/** The starting watches that all services over one storage share. */
export const startingWatchesOf = remembered((_storage: SessionStorage) => new StartingWatches(), new WeakMap());
