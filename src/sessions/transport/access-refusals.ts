import { ForbiddenException } from '@nestjs/common';
import { StatePrefix } from '../../state/scopes.js';
import { SessionNotFoundError } from '../domain/errors/errors.js';
import type { WriteDescription } from '../domain/write/write-description.js';
import { isClientWrite } from '../domain/write/client-writes.js';
import type { AccessRequest } from './session-access.js';

/** An access question without its user. */
export type AccessQuestion = Omit<AccessRequest, 'user'>;

/** The caller may not see the session they delete. They get the same response as for a missing session. */
export class HiddenDeletion extends Error {}

/** A forbidden session gets the same error as a missing one. */
export function createAccessRefusal({ target, action, sessionId }: AccessQuestion): Error {
  if (action === 'write' && target === 'userState') return new ForbiddenException('You may not write user: state.');
  if (action === 'write' && target === 'appState') return new ForbiddenException('You may not write app: state.');
  if (target !== 'session') return new ForbiddenException('You may not do this.');
  return action === 'delete' ? new HiddenDeletion() : new SessionNotFoundError(sessionId ?? '');
}

const MOST_WORDS = 300;

/** Describes the refused write without its content, so that a client can see what was refused. */
export function refusedWrite(write: WriteDescription | undefined): Error {
  return new ForbiddenException(`You may not write this. ${wordsFor(write)}`);
}

function wordsFor(write: WriteDescription | undefined): string {
  if (!write) return 'The server does not say what is written here, and the access rule does not allow just anything.';
  const { authors, roles, content, controls, fields, stateScopes } = write;
  const prefixes = { session: 'session', user: StatePrefix.USER_PREFIX, app: StatePrefix.APP_PREFIX, temp: 'temp:' };
  const said = { authors, roles, content, controls, fields, state: stateScopes.map((scope) => prefixes[scope]) };
  const words = Object.entries(said).flatMap(([name, items]) =>
    items.length > 0 ? `${name}: ${items.map((item) => JSON.stringify(item)).join(', ')}` : [],
  );
  const text = words.join('; ');
  const shown = text.length > MOST_WORDS ? `${text.slice(0, MOST_WORDS)}…` : text;
  return `The access rule does not allow one of these. ${shown}${howToAllow(write)}`;
}

/** Rules of one's own forbid all controls unless they say otherwise: most apps that meet this want the operation. */
function howToAllow(write: WriteDescription): string {
  const { controls } = write;
  if (controls.length === 0 || !isClientWrite(write, { controls })) return '';
  const words = `{ controls: ${JSON.stringify(controls)} }`;
  return ` To allow the controls: clientAccess({ writes: ${words} }), or isClientWrite(write, ${words}) in allowsWrite() of a rule of your own.`;
}
