import type { AppendOutcome, StoredEvent } from '../domain/stored/commit.js';
import { EncryptionError } from '../domain/errors/encryption-errors.js';
import { type StateOwner, type UserKey, scopeOfOwner } from '../domain/values/ids.js';
import type { StoredPartial } from '../domain/stored/partial-event.js';
import { sealedFormOf } from '../domain/stored/sealed-form.js';
import type { LogTail } from '../storage/session-changes.js';
import type { ListRequest, ListResult, ListedSession } from '../storage/session-list.js';
import type { StoredSession } from '../storage/session-storage.js';
import { type StateEntries, type StoredState, ownEntries } from '../storage/state-entries.js';
import { hasSealedNames, openedMetadata, plainMetadata } from './sealed-metadata.js';
import { PLACES, ownerOfScope, toUserOwner } from './sealed-writes.js';
import type { Open } from './owner-cipher.js';

/** The checksum of a store is that of the encrypted text. The tag of the cipher says more. */
function openedEvent({ seq, id, digest, appendedAt, payload }: StoredEvent, key: UserKey, open: Open): StoredEvent {
  const owner = toUserOwner(key);
  if (payload === null) return { seq, id, appendedAt, payload, digest: open(owner, PLACES.digest(seq), digest) };
  const isSealed = sealedFormOf(payload) !== undefined;
  return {
    seq,
    id,
    appendedAt,
    digest: isSealed ? '' : digest,
    payload: open(owner, PLACES.event(id), payload),
  };
}

export function openedOutcome(outcome: AppendOutcome, key: UserKey, open: Open): AppendOutcome {
  if (outcome.kind !== 'seen') return outcome;
  return { ...outcome, events: outcome.events.map((event) => event && openedEvent(event, key, open)) };
}

export function openedEntries(entries: StateEntries, owner: StateOwner, open: Open): StateEntries {
  const scope = scopeOfOwner(owner);
  return entries.map(([name, value]) => [name, open(owner, PLACES.state(scope, name), value)]);
}

function openedState({ session, user, app }: StoredState, key: UserKey, open: Open): StoredState {
  return {
    session: ownEntries(session).map(([name, value]) => [
      name,
      open(toUserOwner(key), PLACES.state('session', name), value),
    ]),
    ...openedShared({ user, app }, key, open),
  };
}

function openedShared(
  { user, app }: Pick<StoredState, 'user' | 'app'>,
  key: UserKey,
  open: Open,
): Pick<StoredState, 'user' | 'app'> {
  return {
    user: openedEntries(user, ownerOfScope('user', key), open),
    app: openedEntries(app, ownerOfScope('app', key), open),
  };
}

export function openedSession(stored: StoredSession, open: Open): StoredSession {
  const { record, events, state, metadata, sharedWrites, summary, baseState, checkpoint } = stored;
  const owner = toUserOwner(record);
  return {
    ...stored,
    events: events.map((event) => openedEvent(event, record, open)),
    ...(state && { state: openedState(state, record, open) }),
    ...(metadata !== undefined && { metadata: openedMetadata(metadata, owner, open) }),
    ...(sharedWrites && { sharedWrites: openedShared(sharedWrites, record, open) }),
    ...(summary && { summary: openedEvent(summary, record, open) }),
    ...(baseState !== undefined && { baseState: open(owner, PLACES.base, baseState) }),
    ...(checkpoint && {
      checkpoint: { seq: checkpoint.seq, text: open(owner, PLACES.checkpoint(checkpoint.seq), checkpoint.text) },
    }),
  };
}

/** One session that cannot be opened does not fail the list of the others. What is not encrypted of its metadata is there. */
export function openedList(list: ListResult, { withState }: Pick<ListRequest, 'withState'>, open: Open): ListResult {
  const sessions = list.sessions.map((listed): ListedSession => {
    const shown = withState === false ? { ...listed, state: NO_STATE } : listed;
    try {
      return openedListed(shown, open);
    } catch (error) {
      if (!(error instanceof EncryptionError)) throw error;
      const areLabelsSealed = hasSealedNames(listed.metadata);
      return {
        ...shown,
        metadata: plainMetadata(listed.metadata),
        state: NO_STATE,
        unreadable: error,
        ...(areLabelsSealed && { areLabelsSealed }),
      };
    }
  });
  return { ...list, sessions };
}

const NO_STATE: StoredState = { session: [], user: [], app: [] };

function openedListed({ record, metadata, state }: ListedSession, open: Open): ListedSession {
  return {
    record,
    metadata: openedMetadata(metadata, toUserOwner(record), open),
    state: openedState(state, record, open),
  };
}

export function openedTail(tail: LogTail, key: UserKey, open: Open): LogTail {
  const { events, partials } = tail;
  return {
    ...tail,
    events: events.map((event) => openedEvent(event, key, open)),
    ...(partials && { partials: partials.map((partial) => openedPartial(partial, key, open)) }),
  };
}

function openedPartial(partial: StoredPartial, key: UserKey, open: Open): StoredPartial {
  return { ...partial, content: open(toUserOwner(key), PLACES.partial(partial.messageId), partial.content) };
}
