import type { StoredScope } from '../../state/scopes.js';
import type { Commit, Upsert } from '../domain/stored/commit.js';
import type { StateOwner, UserKey } from '../domain/values/ids.js';
import type { CommitEvent } from '../domain/stored/session-record.js';
import type { RebuildRequest } from '../storage/rebuild.js';
import type { CreateRequest, TrimRequest, WriteStateRequest } from '../storage/session-storage.js';
import type { TextOwner, TextPlace } from './sealed-text.js';
import { type MetadataMode, sealedChanges, sealedMetadata } from './sealed-metadata.js';
import type { Sealing } from './owner-cipher.js';

/** What each text is bound to. Neither the session nor the number of an event: forks and restored sessions have others. */
export const PLACES = {
  event: (id: string): TextPlace => ({ field: 'event', id }),
  state: (scope: StoredScope, name: string): TextPlace => ({ field: fieldOfState(scope), id: name }),
  base: { field: 'base state', id: '' } satisfies TextPlace,
  checkpoint: (seq: number): TextPlace => ({ field: 'checkpoint', id: String(seq) }),
  partial: (messageId: string): TextPlace => ({ field: 'partial event', id: messageId }),
  digest: (seq: number): TextPlace => ({ field: 'digest', id: String(seq) }),
};

function fieldOfState(scope: StoredScope): string {
  return `${scope} state`;
}

/** The owner of the user's texts. */
export function toUserOwner({ appName, userId }: UserKey): StateOwner {
  return { appName, userId };
}

/** The owner of state. */
export function ownerOfScope(scope: StoredScope, { appName, userId }: UserKey): StateOwner {
  return scope === 'app' ? { appName } : { appName, userId };
}

/** The owners of the texts of a write. */
export function listTextOwners(key: UserKey, upserts: readonly Upsert[]): TextOwner[] {
  return [toUserOwner(key), ...(upserts.some(({ scope }) => scope === 'app') ? [{ appName: key.appName }] : [])];
}

export function sealedEvents<Of extends Pick<CommitEvent, 'id' | 'payload'>>(
  events: readonly Of[],
  key: UserKey,
  { seal }: Sealing,
): Of[] {
  return events.map((event) => ({
    ...event,
    payload: seal(toUserOwner(key), PLACES.event(event.id), event.payload),
  }));
}

/** Values of one scope that are set together: each place of theirs gets the text of all, so there are few of them, and short ones. */
const TOGETHER = { values: 4, characters: 128 };

function sealedUpserts(
  upserts: readonly Upsert[],
  ownerOf: (scope: StoredScope) => StateOwner,
  { seal, sealTogether }: Sealing,
): Upsert[] {
  return groupUpserts(upserts).flatMap((group) => {
    const [{ scope, name, value }] = group;
    const owner = ownerOf(scope);
    if (group.length === 1) return [{ scope, name, value: seal(owner, PLACES.state(scope, name), value) }];
    const texts = group.map((upsert) => [upsert.name, upsert.value] as const);
    const together = sealTogether(owner, fieldOfState(scope), texts);
    return group.map((upsert) => ({ scope, name: upsert.name, value: together }));
  });
}

type UpsertGroup = [Upsert, ...Upsert[]];

/** In the order in which they are set, which is the order of the keys. */
function groupUpserts(upserts: readonly Upsert[]): UpsertGroup[] {
  const groups: UpsertGroup[] = [];
  let characters = 0;
  for (const upsert of upserts) {
    const group = groups.at(-1);
    const length = upsert.name.length + upsert.value.length;
    characters += length;
    if (group && group.length < TOGETHER.values && group[0].scope === upsert.scope && characters <= TOGETHER.characters)
      group.push(upsert);
    else {
      groups.push([upsert]);
      characters = length;
    }
  }
  return groups;
}

export function sealedCommit(commit: Commit, sealing: Sealing, mode: MetadataMode): Commit {
  const { key, events, upserts, metadata } = commit;
  return {
    ...commit,
    events: sealedEvents(events, key, sealing),
    upserts: sealedUpserts(upserts, (scope) => ownerOfScope(scope, key), sealing),
    metadata: metadata && sealedChanges(metadata, toUserOwner(key), sealing, mode),
  };
}

export function sealedCreation(request: CreateRequest, sealing: Sealing, mode: MetadataMode): CreateRequest {
  const { key, baseState, upserts, metadata, log } = request;
  const owner = toUserOwner(key);
  return {
    ...request,
    baseState: sealing.seal(owner, PLACES.base, baseState),
    upserts: sealedUpserts(upserts, (scope) => ownerOfScope(scope, key), sealing),
    metadata: metadata && sealedMetadata(metadata, owner, sealing, mode),
    log: log && { ...log, events: sealedEvents(log.events, key, sealing) },
  };
}

export function sealedTrim(request: TrimRequest, { seal }: Sealing): TrimRequest {
  const { key, firstSeq, digests, baseState } = request;
  const owner = toUserOwner(key);
  return {
    ...request,
    digests: digests.map((digest, index) => seal(owner, PLACES.digest(firstSeq + index), digest)),
    baseState: seal(owner, PLACES.base, baseState),
  };
}

export function sealedRebuild(request: RebuildRequest, sealing: Sealing): RebuildRequest {
  const { key, events } = request;
  return { ...request, ...(events && { events: sealedEvents(events, key, sealing) }) };
}

export function sealedState(request: WriteStateRequest, sealing: Sealing): WriteStateRequest {
  const { owner, upserts } = request;
  return { ...request, upserts: sealedUpserts(upserts, () => owner, sealing) };
}
