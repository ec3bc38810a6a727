import type { SessionKey, StateOwner } from '../sessions/domain/values/ids.js';
import { type StateExcess, type StateLimits, excessOfRead, excessText } from '../sessions/domain/stored/state-size.js';
import type { SessionStorage, StateEntries, StoredSession } from '../sessions/storage/session-storage.js';
import type { Note } from './findings.js';

/** A store, and how much state to load from it. */
export interface LimitedReads {
  readonly storage: SessionStorage;
  /** State that is larger is not loaded. */
  readonly stateLimits: StateLimits;
}

/** A session, without its state if that, or the state of its user or its app, is too large to be loaded. */
export interface ReadForCheck {
  readonly stored: StoredSession;
  readonly excess?: StateExcess | undefined;
}

/** Reads what is checked of a session. State that is too large stays in the store. */
export async function readForCheck(env: LimitedReads, key: SessionKey): Promise<ReadForCheck | undefined> {
  const { storage, stateLimits } = env;
  const parts = { withState: true, withBase: true, withMetadata: true, maxStateBytes: stateLimits };
  const read = await unlessTooLarge(storage.read({ key, ...parts }));
  if (!isExcess(read)) return read && { stored: read };
  // The initial state may be as large.
  const stored = await storage.read({ key, withMetadata: true });
  return stored && { stored, excess: read };
}

/** Reads the state of a user or an app, or says that it is too large. */
export function readSharedForCheck(env: LimitedReads, owner: StateOwner): Promise<StateEntries | StateExcess> {
  return unlessTooLarge(env.storage.readState(owner, undefined, env.stateLimits));
}

export function isExcess(read: object | undefined): read is StateExcess {
  return read !== undefined && 'most' in read;
}

/** How large it is, and how it becomes smaller. */
export function excessNote(excess: StateExcess, owner: StateOwner & Partial<SessionKey>): Note {
  const ids = [owner.appName, owner.userId, owner.sessionId].filter((id) => id !== undefined);
  const command = `agent-sessions state ${ids.map(quoted).join(' ')}`;
  const detail = `${excessText(excess)}. \`${command}\` lists its keys by size, and \`--remove <key>\` removes one`;
  return { code: 'STATE_TOO_LARGE', detail };
}

async function unlessTooLarge<Read>(reading: Promise<Read>): Promise<Read | StateExcess> {
  try {
    return await reading;
  } catch (error) {
    const excess = excessOfRead(error);
    if (!excess) throw error;
    return excess;
  }
}

/** As a shell reads it. */
function quoted(id: string): string {
  return /^[\w.@:/+][\w.@:/+-]*$/.test(id) ? id : `'${id.replaceAll("'", String.raw`'\''`)}'`;
}
