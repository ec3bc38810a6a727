import { expiresAt } from '../domain/values/expiry.js';
import { newRecord } from '../domain/stored/session-record.js';
import { initialExcess, sizeAfter, writeExcessError } from '../domain/stored/state-size.js';
import { stateText } from '../domain/stored/state-text.js';
import type { CreateRequest } from '../storage/session-storage.js';
import type { NewSessionRequest } from '../storage/session-store.js';

/** All that is decided about a new session. Throws if its state is too large. */
export function newSession(request: CreateRequest): NewSessionRequest {
  const { key, upserts, expiry, log, turnsOnly, maxStateBytes } = request;
  const writes = { upserts, removals: [] };
  const excess = initialExcess(writes, maxStateBytes);
  if (excess) throw writeExcessError(excess);
  const own = upserts.filter(({ scope }) => scope === 'session');
  const { atMost: stateBytes } = sizeAfter({ atMost: 0 }, writes, 'session');
  return {
    ...request,
    stateText: stateText(own.map(({ name, value }) => [name, value])),
    recordAt: (now) => newRecord(key, '', now, expiresAt(now, expiry.session), log, turnsOnly, stateBytes),
  };
}
