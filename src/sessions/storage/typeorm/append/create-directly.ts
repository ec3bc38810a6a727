import { NEVER } from '../../../domain/values/expiry.js';
import { indexEntries } from '../../../domain/metadata/metadata-entries.js';
import { EMPTY_LOG, type SessionRecord } from '../../../domain/stored/session-record.js';
import type { StoredSession } from '../../session-storage.js';
import type { NewSessionRequest } from '../../session-store.js';
import { parseStateRows } from '../state/read-state.js';
import { timeRange } from '../../plan-time.js';
import type { DirectWrites } from './direct-writes.js';

/** More does not belong in one message. */
const MAX_ENTRIES = 50;
const MAX_CHARACTERS = 64_000;

/** Whether the session has no initial log, and changes no shared state and no expiry of it. */
function isPlain({ baseState, upserts, expiry, metadata = '', log = EMPTY_LOG }: NewSessionRequest): boolean {
  return (
    log === EMPTY_LOG &&
    upserts.length <= MAX_ENTRIES &&
    upserts.every(({ scope }) => scope === 'session') &&
    expiry.user.ttlMs >= NEVER &&
    expiry.app.ttlMs >= NEVER &&
    baseState.length + metadata.length <= MAX_CHARACTERS
  );
}

/**
 * Creates a session without a look for an expired one with its id. Returns `undefined` if there is one, or if this is not
 * possible: then nothing was written, and the caller uses a transaction.
 */
export async function createDirectly(
  database: DirectWrites,
  request: NewSessionRequest,
  stamp: number,
  calledAt: number,
): Promise<StoredSession | undefined> {
  if (!isPlain(request)) return undefined;
  const { key, baseState, upserts, metadata = '', maxStateBytes: limits, stateText, recordAt } = request;
  const state = stateText === undefined ? upserts : [];
  const entries = indexEntries(metadata);
  let record: SessionRecord | undefined;
  const created = await database.createDirectly((moment) => {
    record = recordAt(moment.now);
    return { record, stamp, baseState, metadata, entries, stateText, state, limits, time: timeRange(moment) };
  }, calledAt);
  if (!created || !record) return undefined;
  const now = record.createTime;
  const lasting = created.shared.filter(({ expires_at: expiry }) => (expiry ?? 0) > now);
  const shared = parseStateRows(lasting, key, { limits, isWritten: true });
  return {
    record: { ...record, incarnation: String(created.pk) },
    now,
    events: [],
    metadata,
    ...shared,
    state: { ...shared.state, session: stateText ?? state.map(({ name, value }) => [name, value] as const) },
  };
}
