import { type Clock, systemClock } from '../../domain/clock.js';
import {
  type ComponentPlace,
  type ComponentWrite,
  type ComponentWriteOutcome,
  type StoredComponent,
  componentWriteOutcome,
} from '../../domain/component.js';
import { expiresAt, isExpired, NEVER } from '../../domain/expiry.js';
import { compareBytes } from '../../domain/ids.js';
import type { ComponentContents, ComponentSessionsRequest, ComponentStore } from '../component-store.js';

interface Entry {
  readonly components: Map<string, Component>;
  expiresAt: number;
}

interface Component extends StoredComponent {
  readonly place: ComponentPlace;
  readonly texts: string[];
}

/**
 * Keeps component state in this process.
 *
 * @example const components = new ComponentSession({ store: new InMemoryComponentStore() });
 */
export class InMemoryComponentStore implements ComponentStore {
  readonly #sessions = new Map<string, Entry>();
  readonly #clock: Clock;

  constructor({ clock = systemClock }: { readonly clock?: Clock | undefined } = {}) {
    this.#clock = clock;
  }

  async read(place: ComponentPlace, part?: 'head'): Promise<StoredComponent | undefined> {
    const found = this.#find(place);
    return found && { ...found, texts: part === 'head' ? [] : [...found.texts] };
  }

  async write(write: ComponentWrite): Promise<ComponentWriteOutcome> {
    const { place, keep, texts, digest, ttlMs } = write;
    const found = this.#find(place);
    const outcome = componentWriteOutcome(found, write);
    if (outcome.kind === 'conflict') return outcome;
    const kept = keep > 0 && found ? found.texts : [];
    for (const text of texts) kept.push(text);
    const entry = this.#live(place.session) ?? { components: new Map<string, Component>(), expiresAt: NEVER };
    entry.components.set(nameOf(place), { place, texts: kept, length: kept.length, digest, version: outcome.version });
    if (ttlMs !== undefined) entry.expiresAt = expiresAt(this.#clock.now(), { ttlMs });
    this.#sessions.set(place.session, entry);
    return outcome;
  }

  async remove(session: string, name?: string): Promise<void> {
    const entry = this.#live(session);
    if (name !== undefined && entry) {
      for (const kind of ['value', 'list'] as const) entry.components.delete(nameOf({ session, name, kind }));
    }
    if (name === undefined || entry?.components.size === 0) this.#sessions.delete(session);
  }

  async places(session: string): Promise<ComponentContents> {
    const { components, expiresAt: expiry } = this.#live(session) ?? {};
    const places = [...(components?.values() ?? [])].map(({ place }) => place);
    return { now: this.#clock.now(), expiresAt: expiry, places };
  }

  async sessions({ after, limit }: ComponentSessionsRequest): Promise<string[]> {
    const now = this.#clock.now();
    const live = [...this.#sessions].flatMap(([session, entry]) => (isExpired(entry.expiresAt, now) ? [] : [session]));
    const wanted = after === undefined ? live : live.filter((session) => compareBytes(session, after) > 0);
    return wanted.toSorted(compareBytes).slice(0, limit);
  }

  async purgeExpired(limit: number): Promise<number> {
    const now = this.#clock.now();
    let count = 0;
    for (const [session, entry] of this.#sessions) {
      if (count === limit) break;
      if (!isExpired(entry.expiresAt, now)) continue;
      this.#sessions.delete(session);
      count++;
    }
    return count;
  }

  async close(): Promise<void> {
    this.#sessions.clear();
  }

  #find(place: ComponentPlace): Component | undefined {
    return this.#live(place.session)?.components.get(nameOf(place));
  }

  #live(session: string): Entry | undefined {
    const now = this.#clock.now();
    const entry = this.#sessions.get(session);
    return entry && !isExpired(entry.expiresAt, now) ? entry : undefined;
  }
}

function nameOf({ name, kind }: ComponentPlace): string {
  return `${kind} ${name}`;
}
