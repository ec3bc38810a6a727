import { BoundedMap } from './domain/process/bounded-map.js';
import { inBatches } from './domain/stored/batches.js';
import type { Clock } from './domain/process/clock.js';
import {
  type ComponentPlace,
  EMPTY_DIGEST,
  componentSessionProblem,
  digestAfter,
  requestTextsOf,
} from './domain/stored/component.js';
import type { SessionKey } from './domain/values/ids.js';
import type { HashedText } from './domain/event/model-request.js';
import type { ComponentStore } from './storage/component-store.js';

/** Of all sessions of a process. */
const MOST_REMEMBERED = 10_000;
/** The texts expire with the session, which each append renews; they are renewed once this part of its life has passed. */
const RENEWED_AFTER = 0.1;
const COPIED_AT_ONCE = { items: 20 };

/** What this process wrote of a text last. */
interface Written {
  readonly at: number;
  /** Of the session; unknown until the append has told it. */
  readonly incarnation: string | undefined;
}

interface RequestTextsOptions {
  /** Undefined: the store keeps none. */
  readonly store: ComponentStore | undefined;
  readonly clock: Clock;
  /** How long sessions live after an append. */
  readonly ttlMs: number;
  /** `false`: only hashes are kept. */
  readonly isKept: boolean;
  /** Of longer texts, only the hash is kept. */
  readonly maxBytes: number;
}

/**
 * The instructions and lists of tools that model requests name by their hashes: each once for each session, beside its log. What this
 * process has written is not written again, so that a repeated prompt costs nothing.
 */
export class RequestTexts {
  readonly #written = new BoundedMap<Written>(MOST_REMEMBERED);

  constructor(private readonly options: RequestTextsOptions) {}

  /** Those of the texts that are kept, and that this process has not written lately. */
  unwritten(key: SessionKey, texts: readonly HashedText[]): readonly HashedText[] {
    const { store, clock, ttlMs, isKept, maxBytes } = this.options;
    if (texts.length === 0 || !store || !isKept || componentSessionProblem(requestTextsOf(key)) !== undefined)
      return [];
    return texts.filter(({ hash, text }) => {
      const { at = -Infinity } = this.#written.get(placeName(key, hash)) ?? {};
      return clock.now() - at >= ttlMs * RENEWED_AFTER && Buffer.byteLength(text) <= maxBytes;
    });
  }

  /** Writes texts, and moves their expiry. */
  async write(key: SessionKey, texts: readonly HashedText[], incarnation?: string): Promise<void> {
    const { store, clock, ttlMs } = this.options;
    const at = clock.now();
    for (const { hash, text } of store ? texts : []) {
      const place = toRequestTextPlace(key, hash);
      const digest = digestAfter(EMPTY_DIGEST, [text]);
      const fresh = { place, expectedVersion: 0, keep: 0, keptDigest: EMPTY_DIGEST, texts: [text], digest, ttlMs };
      const outcome = await store?.write(fresh);
      // It is there: another process wrote it, or it is to be renewed.
      if (outcome?.kind === 'conflict')
        await store?.write({ place, keep: 1, keptDigest: digest, texts: [], digest, ttlMs });
      this.#written.set(placeName(key, hash), { at, incarnation });
    }
  }

  /**
   * Writes again what was written for an earlier session of this id, which had its texts removed.
   *
   * @param fresh what was written for this append
   */
  async settle(
    key: SessionKey,
    texts: readonly HashedText[],
    fresh: readonly HashedText[],
    incarnation: string,
  ): Promise<void> {
    const lost: HashedText[] = [];
    for (const each of texts) {
      const name = placeName(key, each.hash);
      const written = this.#written.get(name);
      if (written && fresh.includes(each)) this.#written.set(name, { ...written, incarnation });
      else if (written && written.incarnation !== incarnation) lost.push(each);
    }
    await this.write(key, lost, incarnation);
  }

  /** A text as it was given, or `undefined` if it is not kept. */
  async read(key: SessionKey, hash: string): Promise<string | undefined> {
    if (componentSessionProblem(requestTextsOf(key)) !== undefined) return undefined;
    return (await this.options.store?.read(toRequestTextPlace(key, hash)))?.texts[0];
  }

  /** Gives a fork the texts of its requests. */
  async copy(from: SessionKey, to: SessionKey, hashes: ReadonlySet<string>, incarnation: string): Promise<void> {
    for (const some of inBatches([...hashes], COPIED_AT_ONCE)) {
      const texts = await Promise.all(some.map(async (hash) => ({ hash, text: await this.read(from, hash) })));
      const found = texts.flatMap(({ hash, text }) => (text === undefined ? [] : [{ hash, text }]));
      await this.write(to, this.unwritten(to, found), incarnation);
    }
  }

  /** Removes the texts of a session. */
  async remove(key: SessionKey): Promise<void> {
    if (componentSessionProblem(requestTextsOf(key)) === undefined)
      await this.options.store?.remove(requestTextsOf(key));
  }
}

function toRequestTextPlace(key: SessionKey, hash: string): ComponentPlace {
  return { session: requestTextsOf(key), name: hash, kind: 'value' };
}

function placeName(key: SessionKey, hash: string): string {
  return requestTextsOf(key) + hash;
}
