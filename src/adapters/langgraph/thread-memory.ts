import type { SessionKey } from '../../sessions/domain/ids.js';
import type { Session } from '../../sessions/domain/session.js';
import type { KnownCheckpoint } from './channel-writer.js';
import { Recent } from '../../components/recent.js';
import type { ThreadAddress } from './thread-address.js';

/** How a run came to a checkpoint: as the newest one, or because its caller named it. */
export type Approach = 'newest' | 'named';

interface Remembered {
  readonly checkpoint: KnownCheckpoint;
  readonly approach: Approach;
}

const MOST_THREADS = 200;
const MOST_CHECKPOINTS = 4;

/** What this process last read and wrote of threads. The store checks that it is current. */
export class ThreadMemory {
  readonly #sessions = new Recent<Session>(MOST_THREADS);
  readonly #checkpoints = new Recent<readonly Remembered[]>(MOST_THREADS);
  readonly #empty = new Recent<true>(MOST_THREADS);

  session(key: SessionKey): Session | undefined {
    return this.#sessions.get(nameOf(key));
  }

  setSession(key: SessionKey, session: Session | undefined): void {
    if (session) this.#sessions.set(nameOf(key), session);
    else this.#sessions.delete(nameOf(key));
  }

  /** The last ones of the namespace, newest first. */
  checkpoints(address: ThreadAddress): readonly KnownCheckpoint[] {
    return this.#of(address).map(({ checkpoint }) => checkpoint);
  }

  checkpoint(address: ThreadAddress, id: string): KnownCheckpoint | undefined {
    return this.checkpoints(address).find(({ record }) => record.id === id);
  }

  /** How a run came to the checkpoint, if it did so through this object. */
  approach(address: ThreadAddress, id: string): Approach | undefined {
    return this.#of(address).find(({ checkpoint }) => checkpoint.record.id === id)?.approach;
  }

  remember(address: ThreadAddress, checkpoint: KnownCheckpoint, approach: Approach): void {
    const others = this.#of(address).filter((each) => each.checkpoint.record.id !== checkpoint.record.id);
    const kept = [{ checkpoint, approach }, ...others].slice(0, MOST_CHECKPOINTS);
    this.#checkpoints.set(placeOf(address), kept);
  }

  /** Notes that a run began where there was no checkpoint. */
  rememberEmpty(address: ThreadAddress): void {
    this.#empty.set(placeOf(address), true);
  }

  wasEmpty(address: ThreadAddress): boolean {
    return this.#empty.get(placeOf(address)) === true;
  }

  #of(address: ThreadAddress): readonly Remembered[] {
    return this.#checkpoints.get(placeOf(address)) ?? [];
  }
}

/** One text for the ids of a session. */
export function nameOf({ appName, userId, sessionId }: SessionKey): string {
  return JSON.stringify([appName, userId, sessionId]);
}

function placeOf({ key, ns }: ThreadAddress): string {
  return JSON.stringify([key.appName, key.userId, key.sessionId, ns]);
}
