import { Recent, sessionNameOf } from '../../adapter.js';
import type { Session, SessionKey } from '../../index.js';
import type { KnownCheckpoint } from './channel-writer.js';
import { type ThreadAddress, placeOf } from './thread-address.js';
import type { StoredChannel, StoredItem } from './thread-records.js';

/** A thread, as this process last saw it. */
interface Thread {
  session?: Session | undefined;
}

/** A checkpoint, and about how many bytes it takes here. */
interface SizedCheckpoint {
  readonly checkpoint: KnownCheckpoint;
  readonly bytes: number;
}

interface Namespace {
  /** Whose it is; another one after the thread was forgotten. */
  readonly thread: Thread;
  /** Newest first. */
  readonly checkpoints: readonly SizedCheckpoint[];
}

const MOST_THREADS = 200;
const MOST_CHECKPOINTS = 4;
const MOST_BYTES = 33_554_432;
/** With its fingerprint and its id. */
const BYTES_OF_AN_ITEM = 200;
const BYTES_OF_A_CHECKPOINT = 2_000;

/** What this process last read and wrote of threads. The store checks that it is current. */
export class ThreadMemory {
  readonly #threads = new Recent<Thread>(MOST_THREADS);
  readonly #namespaces = new Recent<Namespace>(MOST_BYTES, ({ checkpoints }) => sumOf(checkpoints));

  session(key: SessionKey): Session | undefined {
    return this.#threads.get(sessionNameOf(key))?.session;
  }

  setSession(key: SessionKey, session: Session | undefined): void {
    this.#threadOf(key).session = session;
  }

  forget(key: SessionKey): void {
    this.#threads.delete(sessionNameOf(key));
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
    const all = [{ checkpoint, bytes: bytesOf(checkpoint) }, ...others].slice(0, MOST_CHECKPOINTS);
    while (all.length > 1 && sumOf(all) > MOST_BYTES / 2) all.pop();
    this.#namespaces.set(placeOf(address), { thread: this.#threadOf(address.key), checkpoints: all });
  }

  #sized(address: ThreadAddress): readonly SizedCheckpoint[] {
    const thread = this.#threads.get(sessionNameOf(address.key));
    const known = this.#namespaces.get(placeOf(address));
    return known && known.thread === thread ? known.checkpoints : [];
  }

  #threadOf(key: SessionKey): Thread {
    const thread = this.#threads.get(sessionNameOf(key)) ?? {};
    this.#threads.set(sessionNameOf(key), thread);
    return thread;
  }
}

function sumOf(checkpoints: readonly SizedCheckpoint[]): number {
  return checkpoints.reduce((sum, { bytes }) => sum + bytes, 0);
}

function bytesOf({ record, lists }: KnownCheckpoint): number {
  let bytes = BYTES_OF_A_CHECKPOINT + lengthOf(record.metadata);
  for (const items of lists.values()) bytes += items.length * BYTES_OF_AN_ITEM;
  for (const stored of Object.values(record.values)) {
    for (const item of itemsOf(stored)) bytes += lengthOf(item);
  }
  return bytes;
}

function itemsOf(stored: StoredChannel): readonly StoredItem[] {
  if ('value' in stored) return [stored.value];
  return 'list' in stored ? stored.list.items : [];
}

function lengthOf(item: StoredItem): number {
  return 'type' in item ? (item.text ?? item.base64 ?? '').length : 0;
}
