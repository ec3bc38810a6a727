import { type SessionKey } from '../../domain/values/ids.js';
import { NEVER } from '../../domain/values/expiry.js';
import type { SessionRecord } from '../../domain/stored/session-record.js';
import { countedSize } from '../../domain/stored/state-size.js';
import { recordOfMembers } from '../../domain/stored/stored-json.js';
import { ownEntries } from '../state-entries.js';
import type { Held, HeldScopes, HoldRequest, PlannedEntry, PlannedWrite, WriteStore } from '../planned-write.js';
import { EventSender } from './event-sender.js';
import type { LoadedSession } from './load-session.js';
import type { ProcessPartials } from './process-partials.js';
import type { ProcessTurns } from './process-turns.js';
import type { Replica } from './replica.js';
import { METADATA_KEY, SNAPSHOT_KEY, assertOwnState, sharedStateError } from './reserved-keys.js';
import {
  type Snapshot,
  type SnapshotOrigin,
  metadataIn,
  recordPart,
  removedAfter,
  snapshotText,
  stateIn,
} from './snapshot.js';
import type { VertexConnection } from './vertex-connection.js';
import { ttlText } from './wire.js';

/** What sessions write to. */
interface WrittenParts {
  readonly connection: VertexConnection;
  readonly turns: ProcessTurns;
  readonly partials: ProcessPartials;
  /** Loads a session, with its whole log or with an end of it. */
  readonly load: (key: SessionKey, isWhole: boolean) => Promise<LoadedSession | undefined>;
}

/** There are none: whatever is written to them is refused. */
const NO_SCOPES: HeldScopes = { excessOf: async () => undefined, add: () => undefined };

/** Writes to sessions. The service compares nothing, so a session is held within this process while its write is decided and sent. */
export class VertexWrites implements WriteStore {
  readonly limits = { maxBatches: Infinity, maxWaiting: Infinity, isOn: false, holdsOneByOne: true };

  constructor(private readonly parts: WrittenParts) {}

  async write(): Promise<undefined> {}

  async hold(
    [request]: readonly HoldRequest[],
    decide: (held: Held) => Promise<readonly PlannedWrite[]>,
  ): Promise<void> {
    if (!request) return;
    const { connection } = this.parts;
    await connection.inTurn(request.key, async () => {
      for (;;) {
        const loaded = await this.parts.load(request.key, request.ids.length > 0);
        const now = loaded?.now ?? connection.now();
        const [write] = await decide({ now, sessions: [heldSession(loaded, request)], scopes: NO_SCOPES });
        // The session may be gone while it is written.
        if (!write || (loaded && (await this.#send(loaded, write)))) return;
      }
    });
  }

  /** Returns `false` if the session is gone. */
  async #send(loaded: LoadedSession, write: PlannedWrite): Promise<boolean> {
    const { turns, partials } = this.parts;
    const { before, after, events } = write;
    if (write.scopes.some(({ entries }) => entries.length > 0)) throw sharedStateError();
    assertOwnState(write.state);
    const { expiresAt } = after.record;
    if (expiresAt !== before.record.expiresAt && expiresAt < NEVER) {
      await loaded.api.setTtl(loaded.id, ttlText(expiresAt - loaded.now));
    }
    if (events.length > 0 && !(await this.#sendEvents(loaded, write))) return false;
    if (after.record.turn !== before.record.turn) turns.keep(after.record, after.record.turn, loaded.now);
    partials.end(write.key, write.endsPartials);
    partials.put(write.key, after.record.incarnation, write.partials);
    return true;
  }

  /** Each event counts by itself, so that an interrupted import goes on after the last one that arrived. */
  async #restoreEvents({ replica, snapshot, ...loaded }: LoadedSession, { events }: PlannedWrite): Promise<boolean> {
    if (!snapshot) return false;
    const sender = new EventSender(this.parts.connection, { ...loaded, replica });
    for (const event of events) {
      const highWater = Math.max(replica.part.highWater, event.highWater);
      const part = { ...recordPart(snapshot), lastSeq: event.seq, highWater };
      const delta = { [SNAPSHOT_KEY]: snapshotText({ ...snapshot, ...part, lastId: event.id }) };
      if (!(await sender.send(event, delta, Math.min(event.appendedAt, loaded.now)))) return false;
      replica.add([event], part, sender.micros);
    }
    return true;
  }

  #sendEvents(loaded: LoadedSession, write: PlannedWrite): Promise<boolean> {
    return write.upkeep?.isRestored ? this.#restoreEvents(loaded, write) : this.#appendEvents(loaded, write);
  }

  async #appendEvents(loaded: LoadedSession, { key, before, after, events, state }: PlannedWrite): Promise<boolean> {
    const { replica, session, snapshot } = loaded;
    const next: Snapshot = {
      ...recordPart(after.record),
      sessionId: key.sessionId,
      lastId: events.at(-1)?.id ?? replica.lastId,
      removed: removedAfter(snapshot?.removed ?? [], state),
      nonce: snapshot?.nonce ?? session.createTime,
      origin: snapshot?.origin && withTrimmed(snapshot.origin, replica),
    };
    const stateDelta = stateMembersOf(state, {
      [SNAPSHOT_KEY]: snapshotText(next),
      ...(after.metadata !== undefined && after.metadata !== before.metadata && { [METADATA_KEY]: after.metadata }),
    });
    const sender = new EventSender(this.parts.connection, loaded);
    if (!(await sender.sendAll(events, stateDelta))) return false;
    replica.add(events, after.record, sender.micros);
    return true;
  }
}

function heldSession(loaded: LoadedSession | undefined, { ids }: HoldRequest): Held['sessions'][number] {
  const stored = ids.flatMap((id) => loaded?.replica.log.find(id) ?? []);
  return {
    head: loaded && { record: loaded.record, metadata: metadataIn(loaded.session), state: undefined, stamp: 0 },
    events: new Map(stored.map((event) => [event.id, event])),
    keptOf: loaded && ((after) => keptRecord(loaded.record, after)),
    countState: async () =>
      countedSize(ownEntries(loaded && stateIn(loaded.session, loaded.snapshot?.removed).session)),
  };
}

/** No event waits for consumers. The service lets no session live for ever. */
function keptRecord({ dispatchedSeq, waitingSince, ...before }: SessionRecord, after: SessionRecord): SessionRecord {
  const expiresAt = after.expiresAt < NEVER ? after.expiresAt : before.expiresAt;
  return { ...after, expiresAt, dispatchedSeq, waitingSince };
}

/** Counters of trimmed events, which the first append after an import finds out. */
function withTrimmed(origin: SnapshotOrigin, replica: Replica): SnapshotOrigin {
  return origin.firstSeq === 1 || origin.trimmed ? origin : { ...origin, trimmed: replica.trimmedCounts };
}

/** Keys to set and, as `null`, to remove. `__proto__` is an ordinary key. */
export function stateMembersOf(
  entries: readonly PlannedEntry[],
  own: Readonly<Record<string, string>>,
): Record<string, unknown> {
  return recordOfMembers(
    ...entries.map(({ name, value }) => `${JSON.stringify(name)}:${value ?? 'null'}`),
    ...Object.entries(own).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`),
  );
}
