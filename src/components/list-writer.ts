import { BoundedMap } from '../sessions/domain/process/bounded-map.js';
import {
  type ComponentHead,
  type ComponentPlace,
  EMPTY_DIGEST,
  digestAfter,
} from '../sessions/domain/stored/component.js';
import { retryUndefined } from '../sessions/domain/process/retry-overtaken.js';
import type { ComponentStore } from '../sessions/storage/component-store.js';
import { ComponentConflictError } from './component-errors.js';
import { KeyedQueue } from '../sessions/domain/process/keyed-queue.js';

/** What a save does if it is given a version, and that is not the stored one. */
export type ConflictPolicy = 'overwrite' | 'fail' | 'append-merge';

/** A list to save, as texts. */
export interface ListSave {
  readonly texts: readonly string[];
  /** What the caller loaded. Default: overwrite whatever is stored. */
  readonly loaded?: { readonly version: number; readonly texts: () => readonly string[] } | undefined;
  readonly onConflict: ConflictPolicy;
}

interface WriteStep {
  readonly kind: 'append' | 'replace';
  readonly texts: readonly string[];
}

/** What has to be written over what is stored. */
type Step = WriteStep | { readonly kind: 'nothing' } | { readonly kind: 'conflict'; readonly expectedVersion: number };

const MAX_REMEMBERED = 1_000;

/** Writes lists: only what is new at their end, if the store has the rest. Saves of a list in this process wait for each other. */
export class ListWriter {
  readonly #queue = new KeyedQueue();
  /** The last heads that this process wrote, so that most saves need not read them. The store checks that they are current. */
  readonly #heads = new BoundedMap<ComponentHead>(MAX_REMEMBERED);

  constructor(
    private readonly store: ComponentStore,
    private readonly ttlMs: number | undefined,
  ) {}

  /** Returns the version. */
  save(place: ComponentPlace, list: ListSave): Promise<number> {
    return this.#write(place, (head) => chooseSaveStep(list, head));
  }

  /** Appends, whatever others append meanwhile. Returns the version. */
  append(place: ComponentPlace, texts: readonly string[]): Promise<number> {
    return this.#write(place, (head) => appended(texts, head));
  }

  #write(place: ComponentPlace, stepOver: (head: ComponentHead | undefined) => Step): Promise<number> {
    const stepFor = (head: ComponentHead | undefined): Step => {
      const step = stepOver(head);
      return step.kind === 'nothing' && this.ttlMs !== undefined ? RENEWAL : step;
    };
    const key = `${place.session}\u0000${place.name}`;
    return this.#queue.run(key, async () => {
      let tried = 0;
      const saved = await retryUndefined(async () => {
        let head = this.#heads.get(key);
        let step = head && stepFor(head);
        // Only a write is checked by the store.
        if (!step || !isWrite(step)) {
          this.#remember(key, undefined);
          head = await this.store.read(place, 'head');
          step = stepFor(head);
        }
        tried = head?.version ?? 0;
        if (isWrite(step)) {
          const written = await this.#tryToWrite(place, head, step);
          this.#remember(key, written);
          return written?.version;
        }
        if (step.kind === 'conflict') {
          throw new ComponentConflictError(place.session, place.name, step.expectedVersion, tried);
        }
        return tried;
      });
      if (saved !== undefined) return saved;
      throw new ComponentConflictError(
        place.session,
        place.name,
        tried,
        (await this.store.read(place, 'head'))?.version ?? 0,
      );
    });
  }

  /** Returns the new head, or nothing if another writer was first. */
  async #tryToWrite(
    place: ComponentPlace,
    head: ComponentHead | undefined,
    { kind, texts }: WriteStep,
  ): Promise<ComponentHead | undefined> {
    const { length: keep, digest: keptDigest } = kind === 'append' && head ? head : NO_TEXTS;
    const digest = digestAfter(keptDigest, texts);
    const expectedVersion = head?.version ?? 0;
    const write = { place, expectedVersion, keep, keptDigest, texts, digest, ttlMs: this.ttlMs };
    const outcome = await this.store.write(write);
    if (outcome.kind === 'conflict') return undefined;
    return { version: outcome.version, length: keep + texts.length, digest };
  }

  #remember(key: string, head: ComponentHead | undefined): void {
    if (head) this.#heads.set(key, head);
    else this.#heads.delete(key);
  }
}

const NOTHING: Step = { kind: 'nothing' };
/** Moves the expiry of the session. */
const RENEWAL: Step = { kind: 'append', texts: [] };
const NO_TEXTS = { length: 0, digest: EMPTY_DIGEST };

function isWrite(step: Step): step is WriteStep {
  return step.kind === 'append' || step.kind === 'replace';
}

function chooseSaveStep({ texts, loaded, onConflict }: ListSave, head: ComponentHead | undefined): Step {
  const version = head?.version ?? 0;
  if (loaded && loaded.version !== version && onConflict !== 'overwrite') {
    const before = loaded.texts();
    const isMerged = onConflict === 'append-merge' && startsWith(texts, before);
    if (!isMerged) return { kind: 'conflict', expectedVersion: loaded.version };
    return appended(texts.slice(before.length), head);
  }
  if (!head) return { kind: 'append', texts };
  const isAppended =
    texts.length >= head.length && digestAfter(EMPTY_DIGEST, texts.slice(0, head.length)) === head.digest;
  return isAppended ? appended(texts.slice(head.length), head) : { kind: 'replace', texts };
}

function appended(texts: readonly string[], head: ComponentHead | undefined): Step {
  return head && texts.length === 0 ? NOTHING : { kind: 'append', texts };
}

function startsWith(texts: readonly string[], first: readonly string[]): boolean {
  return first.length <= texts.length && first.every((text, index) => text === texts[index]);
}
