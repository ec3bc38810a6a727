import { ForbiddenException } from '@nestjs/common';
import { splitStateKey } from '../../state/scopes.js';
import { SessionNotFoundError } from '../domain/errors.js';
import type { AccessRequest, SessionAccess } from './session-access.js';

/** Somebody deleted what is not theirs to see: they are told what they are told of what is not there. */
export class HiddenDeletion extends Error {}

/** Asks before anything is looked up; a session that is not theirs answers as one that is not there. */
export async function checkAccess(access: SessionAccess, asked: AccessRequest): Promise<void> {
  if (await access.allows(asked)) return;
  if (asked.target !== 'session') throw new ForbiddenException('You may not do this.');
  if (asked.action === 'delete') throw new HiddenDeletion();
  throw new SessionNotFoundError(asked.sessionId ?? '');
}

/** Keys of state that a request is about to write, as they came: nothing of them is checked yet. */
export interface SharedWrites {
  readonly appName: string;
  readonly userId: string;
  readonly stateDelta?: unknown;
  readonly stateRemovals?: unknown;
  readonly request: unknown;
}

/**
 * A change of a session may write what it shares with others: `user:` and `app:` keys need the same leave there as
 * by the paths of their own.
 */
export async function checkSharedWrites(access: SessionAccess, writes: SharedWrites): Promise<void> {
  const { appName, userId, request } = writes;
  const scopes = sharedScopesOf(writes);
  const action = 'write';
  if (scopes.has('user') && !(await access.allows({ action, target: 'userState', appName, userId, request }))) {
    throw new ForbiddenException('You may not write user: state.');
  }
  if (scopes.has('app') && !(await access.allows({ action, target: 'appState', appName, request }))) {
    throw new ForbiddenException('You may not write app: state.');
  }
}

function sharedScopesOf({ stateDelta, stateRemovals }: SharedWrites): ReadonlySet<string> {
  const upserted = typeof stateDelta === 'object' && stateDelta !== null ? Object.keys(stateDelta) : [];
  const removed = Array.isArray(stateRemovals) ? stateRemovals.filter((key) => typeof key === 'string') : [];
  return new Set([...upserted, ...removed].map((key) => splitStateKey(key).scope));
}
