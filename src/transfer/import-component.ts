import {
  type ComponentPlace,
  type StoredComponent,
  EMPTY_DIGEST,
  digestAfter,
  sessionOfComponents,
} from '../sessions/domain/stored/component.js';
import { NEVER, isExpired } from '../sessions/domain/values/expiry.js';
import type { Holds } from '../sessions/retention/holds.js';
import type { ComponentStore } from '../sessions/storage/component-store.js';
import { ComponentTexts } from './component-texts.js';
import type { ComponentLine } from './transfer-records.js';

/** What an import did to a value or a list. */
export type ComponentOutcome = 'written' | 'unchanged' | 'expired' | 'conflict';

interface Options {
  readonly store: ComponentStore;
  readonly isDryRun: boolean;
  /** Whether what differs in the target is replaced. */
  readonly replaces: boolean;
  /** What they keep is not replaced. */
  readonly holds: Holds;
}

/** Takes the lines of a value or a list. What the target has of it already is compared. */
export class ComponentImport {
  readonly #texts: ComponentTexts;
  /** How many items the target has, or is known to have, of those that came. */
  #kept = 0;
  #keptDigest = EMPTY_DIGEST;

  private constructor(
    private readonly line: ComponentLine,
    private readonly options: Options,
    /** What the target has; undefined if there is nothing, or it is the same. */
    private readonly found: StoredComponent | undefined,
    private readonly ttlMs: number | undefined,
    private outcome: ComponentOutcome,
  ) {
    this.#texts = new ComponentTexts(line);
  }

  static async begin(line: ComponentLine, options: Options): Promise<ComponentImport> {
    const { store, replaces } = options;
    const place = toComponentLinePlace(line);
    const [{ now, expiresAt }, head] = await Promise.all([store.places(line.session), store.read(place, 'head')]);
    const { expiresAt: wanted = NEVER } = line;
    const begun = (outcome: ComponentOutcome, found?: StoredComponent): ComponentImport => {
      // A session that the target has keeps its expiry.
      const isExpiryTaken = wanted < NEVER && (replaces || expiresAt === undefined);
      return new ComponentImport(line, options, found, isExpiryTaken ? wanted - now : undefined, outcome);
    };
    if (isExpired(wanted, now)) return begun('expired');
    if (!head) return begun('written');
    if (head.length === line.length && head.digest === line.digest) return begun('unchanged');
    const found = await store.read(place);
    return begun(found ? 'unchanged' : 'written', found);
  }

  /** Whether all has come. */
  get isComplete(): boolean {
    return this.#texts.isComplete;
  }

  /** @param at line of the file */
  async take(line: ComponentLine, at: number): Promise<void> {
    this.#texts.take(line, at);
    const { found, outcome } = this;
    if (outcome === 'expired' || outcome === 'conflict' || (outcome === 'unchanged' && !found)) return;
    if (outcome === 'written') {
      await this.#append(line.items);
      return;
    }
    const stored = found?.texts ?? [];
    const first = line.items.findIndex((text, index) => stored[line.from + index] !== text);
    if (first < 0) {
      this.#keep(line.items);
    } else if (line.from + first === stored.length) {
      this.#keep(line.items.slice(0, first));
      await this.#append(line.items.slice(first));
    } else if (this.options.replaces) {
      const key = sessionOfComponents(line.session);
      if (key) await this.options.holds.assertFree(key);
      this.#kept = 0;
      this.#keptDigest = EMPTY_DIGEST;
      await this.#append([...stored.slice(0, line.from + first), ...line.items.slice(first)]);
    } else {
      this.outcome = 'conflict';
    }
  }

  /** What happened. */
  end(): ComponentOutcome {
    return this.outcome;
  }

  #keep(items: readonly string[]): void {
    this.#kept += items.length;
    this.#keptDigest = digestAfter(this.#keptDigest, items);
  }

  async #append(texts: readonly string[]): Promise<void> {
    const { line, ttlMs, options } = this;
    const [keep, keptDigest] = [this.#kept, this.#keptDigest];
    this.#keep(texts);
    const isNew = this.found === undefined && keep === 0;
    this.outcome = 'written';
    if (options.isDryRun) return;
    const outcome = await options.store.write({
      place: toComponentLinePlace(line),
      expectedVersion: isNew ? 0 : undefined,
      keep,
      keptDigest,
      texts,
      digest: this.#keptDigest,
      ttlMs,
    });
    // Somebody else wrote it in the meantime.
    if (outcome.kind === 'conflict') this.outcome = 'conflict';
  }
}

function toComponentLinePlace({ session, name, type }: ComponentLine): ComponentPlace {
  return { session, name, kind: type };
}
