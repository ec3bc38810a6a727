import { Recent } from '../../adapter.js';
import type { Session, SessionKey } from '../../index.js';
import type { KnownCheckpoint } from './channel-writer.js';
import { type ThreadAddress, formatThreadPlace } from './thread-address.js';
import type { StoredChannel, StoredItem } from './thread-records.js';

/** A checkpoint, and about how many bytes it takes here. */
interface SizedCheckpoint {
  readonly checkpoint: KnownCheckpoint;
  readonly bytes: number;
}

/** A thread, or a namespace of it. */
interface Remembered {
  /** Of the thread: another one after it was forgotten. */
  readonly mark: symbol;
  readonly bytes: number;
  readonly session?: Session | undefined;
  /** Newest first. */
  readonly checkpoints?: readonly SizedCheckpoint[];
}

const MOST_CHECKPOINTS = 4;
const MOST_BYTES = 33_554_432;
/** With its fingerprint and its id. */
const BYTES_OF_AN_ITEM = 200;
const BYTES_OF_A_CHECKPOINT = 2_000;
const BYTES_OF_A_SESSION = 2_000;

/** What this process last read and wrote of threads. The store checks that it is current. */
export class ThreadMemory {
  readonly #known = new Recent<Remembered>(MOST_BYTES, ({ bytes }) => bytes);

  session(key: SessionKey): Session | undefined {
    return this.#known.get(formatSessionPlace(key))?.session;
  }

  setSession(key: SessionKey, session: Session | undefined): void {
    const { mark } = this.#threadOf(key);
    this.#known.set(formatSessionPlace(key), { mark, session, bytes: estimateThreadBytes(session) });
  }

  forget(key: SessionKey): void {
    this.#known.delete(formatSessionPlace(key));
  }

  /** The last ones of the namespace, newest first. */
  checkpoints(address: ThreadAddress): readonly KnownCheckpoint[] {
    return this.#sized(address).map(({ checkpoint }) => checkpoint);
  }

  checkpoint(address: ThreadAddress, id: string): KnownCheckpoint | undefined {
    return this.checkpoints(address).find(({ record }) => record.id === id);
  }

  /** With those before it, unless they are too much for one namespace. */
  remember(address: ThreadAddress, checkpoint: KnownCheckpoint): void {
    const others = this.#sized(address).filter((other) => other.checkpoint.record.id !== checkpoint.record.id);
    const all = [{ checkpoint, bytes: estimateCheckpointBytes(checkpoint) }, ...others].slice(0, MOST_CHECKPOINTS);
    while (all.length > 1 && sumOf(all) > MOST_BYTES / 2) all.pop();
    const { mark } = this.#threadOf(address.key);
    this.#known.set(formatThreadPlace(address), { mark, checkpoints: all, bytes: sumOf(all) });
  }

  #sized(address: ThreadAddress): readonly SizedCheckpoint[] {
    const thread = this.#known.get(formatSessionPlace(address.key));
    const known = this.#known.get(formatThreadPlace(address));
    return known && known.mark === thread?.mark ? (known.checkpoints ?? []) : [];
  }

  #threadOf(key: SessionKey): Remembered {
    const known = this.#known.get(formatSessionPlace(key));
    if (known) return known;
    const thread = { mark: Symbol('thread'), bytes: estimateThreadBytes(undefined) };
    this.#known.set(formatSessionPlace(key), thread);
    return thread;
  }
}

/** No namespace has this place. */
function formatSessionPlace(key: SessionKey): string {
  return formatThreadPlace({ key, ns: '' }, 'session');
}

function estimateThreadBytes(session: Session | undefined): number {
  return BYTES_OF_A_SESSION + (session ? JSON.stringify([session.state.toRecord(), session.metadata]).length : 0);
}

function sumOf(checkpoints: readonly SizedCheckpoint[]): number {
  return checkpoints.reduce((sum, { bytes }) => sum + bytes, 0);
}

function estimateCheckpointBytes({ record, lists }: KnownCheckpoint): number {
  let bytes = BYTES_OF_A_CHECKPOINT + measureStoredItem(record.metadata);
  for (const items of lists.values()) bytes += items.length * BYTES_OF_AN_ITEM;
  for (const stored of Object.values(record.values)) {
    for (const item of listStoredItems(stored)) bytes += measureStoredItem(item);
  }
  return bytes;
}

function listStoredItems(stored: StoredChannel): readonly StoredItem[] {
  if ('value' in stored) return [stored.value];
  return 'list' in stored ? stored.list.items : [];
}

function measureStoredItem(item: StoredItem): number {
  return 'type' in item ? (item.text ?? item.base64 ?? '').length : 0;
}
