import { randomBytes } from 'node:crypto';
import { DEFAULT_CACHE_SECONDS, type DataKeyContext, type KeyWrapper } from '../../config/encryption-settings.js';
import { inBatches } from '../domain/stored/batches.js';
import { BoundedMap } from '../domain/process/bounded-map.js';
import type { Clock } from '../domain/process/clock.js';
import { SessionsError, StoreUnavailableError } from '../domain/errors/errors.js';
import { callWithin } from '../domain/process/timeouts.js';
import { retryUndefined } from '../domain/process/retry-overtaken.js';
import type { EntryStore, StoredEntry } from '../storage/entry-store.js';
import { keptEntry } from '../storage/new-entry.js';
import { type EncryptionKey, KEY_BYTES, type TextOwner, encryptionKey } from './sealed-text.js';
import { KeyRing, type WrappedKey, type WrappedRing, ringIn, ringText } from './key-ring.js';
import { type KeyPlace, nameOfOwner, ownerOfPlace, placeOfKeys, spacesOfKeys } from './key-places.js';

const MOST_REMEMBERED = 10_000;
/** How long a wrapper may take. */
const WRAPPER_MS = 10_000;
const AT_ONCE = { items: 500 };
const KEY_ID_BYTES = 6;

/** While a transaction of the app is open, a store may not be able to read: then any key that is known will do. */
export type KeyAge = 'fresh' | 'any';

interface DataKeysOptions {
  readonly entries: EntryStore;
  readonly wrapper: KeyWrapper;
  readonly clock: Clock;
  readonly cacheSeconds?: number | undefined;
}

/** A ring, and until when it is used without a look at the store. */
interface Remembered {
  readonly ring: KeyRing;
  readonly until: number;
}

/** What a rotation did. */
export interface RotatedKeys {
  /** Owners of keys: users, apps. */
  readonly owners: number;
  /** Data keys that were wrapped again by the current key. */
  readonly rewrapped: number;
  /** New data keys. */
  readonly renewed: number;
}

/**
 * The data keys of users and apps. They are entries of the store, wrapped by a key that the store does not have. This process remembers
 * those that it uses, for a while, so that nothing is read or unwrapped for each event.
 */
export class OwnerKeys {
  readonly #entries: EntryStore;
  readonly #wrapper: KeyWrapper;
  readonly #clock: Clock;
  readonly #cacheMs: number;
  readonly #rings = new BoundedMap<Remembered>(MOST_REMEMBERED);
  /** Rings that are being made or read to encrypt with them. */
  readonly #pending = new Map<string, Promise<KeyRing>>();
  /** The last wrapping key that was seen to unwrap what it wraps. */
  #triedOut: string | undefined;

  constructor({ entries, wrapper, clock, cacheSeconds = DEFAULT_CACHE_SECONDS }: DataKeysOptions) {
    this.#entries = entries;
    this.#wrapper = wrapper;
    this.#clock = clock;
    this.#cacheMs = cacheSeconds * 1_000;
  }

  /** What this process knows. */
  known(owner: TextOwner, age: KeyAge = 'fresh'): KeyRing | undefined {
    const found = this.#rings.get(nameOfOwner(owner));
    return found && (age === 'any' || this.#clock.now() < found.until) ? found.ring : undefined;
  }

  /** The rings of owners as they are stored, in their order. */
  async read(owners: readonly TextOwner[]): Promise<(KeyRing | undefined)[]> {
    const rings: (KeyRing | undefined)[] = [];
    const places = owners.map((owner) => this.#placeOf(owner));
    for (const some of inBatches(places, AT_ONCE)) {
      const { entries } = await this.#entries.find(some);
      const found = some.map(async (place, index) => {
        const entry = entries[index];
        if (entry) return this.#remember(place, ringIn(entry.text));
        this.#rings.delete(place.name);
        return undefined;
      });
      rings.push(...(await Promise.all(found)));
    }
    return rings;
  }

  /** Whether an owner has keys. */
  async has(owner: TextOwner, age: KeyAge = 'fresh'): Promise<boolean> {
    return (this.known(owner, age) ?? (await this.read([owner]))[0]) !== undefined;
  }

  /** The ring of an owner, who gets one if there is none. */
  async ensured(owner: TextOwner): Promise<KeyRing> {
    const known = this.known(owner);
    if (known) return known;
    const place = this.#placeOf(owner);
    const pending = this.#pending.get(place.name);
    if (pending) return pending;
    const making = this.#ensure(place).finally(() => this.#pending.delete(place.name));
    this.#pending.set(place.name, making);
    return making;
  }

  /** Destroys the keys of an owner: what they have encrypted is lost, also in copies of the store. */
  async destroy(owner: TextOwner): Promise<void> {
    const place = this.#placeOf(owner);
    await this.#change(place, async () => undefined);
    this.#rings.delete(place.name);
  }

  /** Wraps all data keys by the current key, and gives each owner a new one if that is asked for. */
  async rotate({ renews }: { readonly renews: boolean }): Promise<RotatedKeys> {
    const counts = { owners: 0, rewrapped: 0, renewed: 0 };
    for await (const place of this.#places()) {
      let rewrapped = 0;
      await this.#change(place, async (stored) => {
        if (!stored) return 'same';
        const old = ringIn(stored.text);
        const ring = await this.#rewrapped(place, old);
        rewrapped = ring.filter((key, index) => key !== old[index]).length;
        if (renews) return [...ring, await this.#newKey(place)];
        return rewrapped === 0 ? 'same' : ring;
      });
      this.#rings.delete(place.name);
      counts.owners += 1;
      counts.rewrapped += rewrapped;
      counts.renewed += renews ? 1 : 0;
    }
    return counts;
  }

  /** Fails if keys cannot be wrapped, or not be unwrapped again. */
  async check(): Promise<void> {
    const place = this.#placeOf({});
    const key = await this.#newKey(place);
    await this.#unwrapped(place, key);
  }

  async #ensure(place: KeyPlace): Promise<KeyRing> {
    const { entries } = await this.#entries.find([place]);
    const stored = entries[0];
    const ring = stored ? ringIn(stored.text) : await this.#create(place);
    return this.#remember(place, ring);
  }

  /** Another process may come first: then its key is the key. */
  async #create(place: KeyPlace): Promise<WrappedRing> {
    const ring: WrappedRing = [await this.#newKey(place)];
    const outcome = await this.#entries.write([
      { ...pick(place), expected: undefined, next: keptEntry(ringText(ring)) },
    ]);
    const [first] = outcome.kind === 'changed' ? outcome.entries : [];
    return first ? ringIn(first.text) : ring;
  }

  async #newKey(place: KeyPlace): Promise<WrappedKey> {
    const id = randomBytes(KEY_ID_BYTES).toString('base64url');
    const bytes = randomBytes(KEY_BYTES);
    const context = { ...ownerOfPlace(place), keyId: id };
    return this.#wrapped(id, bytes, context);
  }

  async #wrapped(id: string, bytes: Uint8Array, context: DataKeyContext): Promise<WrappedKey> {
    const key = await this.#called('wrap', async () => {
      const by = this.#wrapper.current();
      if (!isText(by)) throw wrongWrapper('its current() returned no text');
      const wrapped = await this.#wrapper.wrap(bytes, context);
      if (!isText(wrapped)) throw wrongWrapper('its wrap() returned no text');
      return { id, by, wrapped };
    });
    await this.#tryOut(key, bytes, context);
    return key;
  }

  /** Once for each key that wraps: what cannot be unwrapped again is lost, and would be noticed after the next restart. */
  async #tryOut({ by, wrapped }: WrappedKey, bytes: Uint8Array, context: DataKeyContext): Promise<void> {
    if (this.#triedOut === by) return;
    const again = await this.#called('unwrap', () => this.#wrapper.unwrap(wrapped, context));
    if (!(again instanceof Uint8Array) || !Buffer.from(bytes).equals(again))
      throw wrongWrapper('its unwrap() did not return the data key that its wrap() was given');
    this.#triedOut = by;
  }

  async #rewrapped(place: KeyPlace, ring: WrappedRing): Promise<WrappedRing> {
    const by = this.#wrapper.current();
    const again = async (key: WrappedKey): Promise<WrappedKey> => {
      if (key.by === by) return key;
      const context = { ...ownerOfPlace(place), keyId: key.id };
      return this.#wrapped(key.id, await this.#bytesOf(place, key), context);
    };
    const [first, ...others] = ring;
    return [await again(first), ...(await Promise.all(others.map(again)))];
  }

  /** @param next the new ring; `'same'`: nothing is written; undefined: the ring is removed */
  async #change(
    place: KeyPlace,
    next: (stored: StoredEntry | undefined) => Promise<WrappedRing | 'same' | undefined>,
  ): Promise<void> {
    const isDone = await retryUndefined(async () => {
      const { entries } = await this.#entries.find([place]);
      const stored = entries[0];
      const ring = await next(stored);
      if (ring === 'same' || (!stored && !ring)) return true;
      const write = { ...pick(place), expected: stored?.stamp, next: ring && keptEntry(ringText(ring)) };
      return (await this.#entries.write([write])).kind === 'written' || undefined;
    });
    if (!isDone)
      throw new StoreUnavailableError('Others changed the keys each time that they were to be changed.', false);
  }

  async #remember(place: KeyPlace, wrapped: WrappedRing): Promise<KeyRing> {
    const known = this.#rings.get(place.name)?.ring;
    const keys = await Promise.all(
      wrapped.map(
        async (key) => [key.id, knownKey(known, key.id) ?? (await this.#unwrapped(place, key).catch(asError))] as const,
      ),
    );
    const ring = new KeyRing(keys);
    // A service of keys that is away now may be back at once.
    const isWhole = !keys.some(([, key]) => key instanceof Error);
    this.#rings.set(place.name, { ring, until: isWhole ? this.#clock.now() + this.#cacheMs : -Infinity });
    return ring;
  }

  async #unwrapped(place: KeyPlace, key: WrappedKey): Promise<EncryptionKey> {
    return encryptionKey(key.id, await this.#bytesOf(place, key));
  }

  async #bytesOf(place: KeyPlace, { id, wrapped }: WrappedKey): Promise<Uint8Array> {
    const context = { ...ownerOfPlace(place), keyId: id };
    const bytes = await this.#called('unwrap', () => this.#wrapper.unwrap(wrapped, context));
    if (bytes instanceof Uint8Array && bytes.length === KEY_BYTES) return bytes;
    throw wrongWrapper(`its unwrap() did not return ${KEY_BYTES} bytes`);
  }

  /** Errors of a wrapper may quote what they were given, so that they are only the cause. */
  async #called<Result>(what: 'wrap' | 'unwrap', call: () => Promise<Result> | Result): Promise<Result> {
    try {
      return await callWithin({ limitMs: WRAPPER_MS }, call);
    } catch (error) {
      if (error instanceof SessionsError) throw error;
      const reason = `The wrapper of keys could not ${what} a data key.`;
      throw new StoreUnavailableError(reason, false, { publicReason: 'The keys of the store are away.', cause: error });
    }
  }

  #placeOf(owner: TextOwner): KeyPlace {
    return placeOfKeys(owner, this.#entries.groups);
  }

  async *#places(): AsyncGenerator<KeyPlace> {
    for (const space of spacesOfKeys(this.#entries.groups)) {
      let after: StoredEntry | undefined;
      do {
        const { entries } = await this.#entries.range({ space, after, limit: AT_ONCE.items });
        yield* entries.map(pick);
        after = entries.length < AT_ONCE.items ? undefined : entries.at(-1);
      } while (after);
    }
  }
}

/** What was unwrapped stays as it is: a data key is never another one under its id. */
function knownKey(ring: KeyRing | undefined, id: string): EncryptionKey | undefined {
  try {
    return ring?.find(id);
  } catch {
    return undefined;
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function wrongWrapper(how: string): StoreUnavailableError {
  return new StoreUnavailableError(`The wrapper of keys is wrong: ${how}.`, false, {
    publicReason: 'The keys of the store are away.',
  });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('A data key cannot be unwrapped.');
}

function pick({ space, name }: KeyPlace): KeyPlace {
  return { space, name };
}
