import { numberedEvents, recordAfter, refusalOf } from '../../domain/commit-rules.js';
import type { AppendOutcome, Commit } from '../../domain/commit.js';
import { isRenewalDue } from '../../domain/expiry.js';
import { metadataAfter } from '../../domain/metadata-entries.js';
import { countedSize, stateExcess } from '../../domain/state-size.js';
import { recordOfMembers } from '../../domain/stored-json.js';
import { usageByModel } from '../../domain/usage.js';
import { EventSender } from './event-sender.js';
import type { LoadedSession } from './load-session.js';
import type { Replica } from './replica.js';
import { METADATA_KEY, SNAPSHOT_KEY, assertOwnState } from './reserved-keys.js';
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

/** Writes a commit to a session that was loaded with its whole log, while nobody else of this process writes it. */
export async function appendCommit(
  connection: VertexConnection,
  loaded: LoadedSession,
  commit: Commit,
): Promise<AppendOutcome> {
  const { replica, record, session, snapshot, now } = loaded;
  const seen = commit.events.map(({ id }) => replica.log.find(id));
  const refusal = refusalOf(commit, record, seen, now);
  if (refusal) return refusal;
  assertOwnState(commit);
  const metadata = metadataIn(session);
  const newMetadata = commit.metadata ? metadataAfter(metadata, commit.metadata) : metadata;
  if (newMetadata === undefined) return { kind: 'full' };
  const size = commit.maxStateBytes && countedSize(stateIn(session, snapshot?.removed).session);
  const excess = size && stateExcess('session', size, commit, commit.maxStateBytes);
  if (excess) return { kind: 'stateFull', excess };

  const lifetime = commit.expiry?.session;
  const isRenewed = lifetime !== undefined && isRenewalDue(record.expiresAt, now, lifetime);
  if (isRenewed) await loaded.api.setTtl(loaded.id, ttlText(lifetime.ttlMs));
  const wanted = recordAfter(commit, record, now);
  const { dispatchedSeq, waitingSince } = record;
  const after = {
    ...wanted,
    expiresAt: isRenewed ? wanted.expiresAt : record.expiresAt,
    // No event waits for consumers.
    dispatchedSeq,
    waitingSince,
  };
  const events = numberedEvents(commit, record, now);
  const next: Snapshot = {
    ...recordPart(after),
    sessionId: commit.key.sessionId,
    lastId: events.at(-1)?.id ?? replica.lastId,
    removed: removedAfter(snapshot?.removed ?? [], commit),
    usage: commit.usage ? usageByModel([...(snapshot?.usage ?? []), ...commit.usage.models]) : (snapshot?.usage ?? []),
    nonce: snapshot?.nonce ?? session.createTime,
    origin: snapshot?.origin && withTrimmed(snapshot.origin, replica),
  };
  const stateDelta = stateMembersOf(commit, {
    [SNAPSHOT_KEY]: snapshotText(next),
    ...(newMetadata !== metadata && { [METADATA_KEY]: newMetadata }),
  });
  const sender = new EventSender(connection, loaded);
  if (!(await sender.sendAll(events, stateDelta))) return { kind: 'missing' };
  replica.add(events, after, sender.micros);
  return { kind: 'appended', record: after, now, previousTipSeq: record.tipSeq };
}

/** Counters of trimmed events, which the first append after an import finds out. */
function withTrimmed(origin: SnapshotOrigin, replica: Replica): SnapshotOrigin {
  return origin.firstSeq === 1 || origin.trimmed ? origin : { ...origin, trimmed: replica.trimmedCounts };
}

/** Keys to set and, as `null`, to remove. `__proto__` is an ordinary key. */
export function stateMembersOf(
  { upserts, removals }: Pick<Commit, 'upserts' | 'removals'>,
  own: Readonly<Record<string, string>>,
): Record<string, unknown> {
  return recordOfMembers(
    ...upserts.map(({ name, value }) => `${JSON.stringify(name)}:${value}`),
    ...removals.map(({ name }) => `${JSON.stringify(name)}:null`),
    ...Object.entries(own).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`),
  );
}
