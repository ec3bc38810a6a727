import { Recent, sessionNameOf } from '../../adapter.js';
import type { Session, SessionKey } from '../../index.js';
import type { KnownCheckpoint } from './channel-writer.js';
import type { ThreadAddress } from './thread-address.js';

/** A thread, as this process last saw it. */
interface Thread {
  session?: Session | undefined;
  readonly checkpoints: Recent<readonly KnownCheckpoint[]>;
}

const MOST_THREADS = 200;
const MOST_NAMESPACES = 50;
const MOST_CHECKPOINTS = 4;

/** What this process last read and wrote of threads. The store checks that it is current. */
export class ThreadMemory {
  readonly #threads = new Recent<Thread>(MOST_THREADS);

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
  checkpoints({ key, ns }: ThreadAddress): readonly KnownCheckpoint[] {
    return this.#threads.get(sessionNameOf(key))?.checkpoints.get(ns) ?? [];
  }

  checkpoint(address: ThreadAddress, id: string): KnownCheckpoint | undefined {
    return this.checkpoints(address).find(({ record }) => record.id === id);
  }

  remember(address: ThreadAddress, checkpoint: KnownCheckpoint): void {
    const others = this.checkpoints(address).filter(({ record }) => record.id !== checkpoint.record.id);
    const { checkpoints } = this.#threadOf(address.key);
    checkpoints.set(address.ns, [checkpoint, ...others].slice(0, MOST_CHECKPOINTS));
  }

  #threadOf(key: SessionKey): Thread {
    const thread = this.#threads.get(sessionNameOf(key)) ?? { checkpoints: new Recent(MOST_NAMESPACES) };
    this.#threads.set(sessionNameOf(key), thread);
    return thread;
  }
}
