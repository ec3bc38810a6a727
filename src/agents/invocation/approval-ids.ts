import { hash } from 'node:crypto';
import { InvalidInputError } from '../../sessions/domain/errors/errors.js';
import { RESERVED } from '../../sessions/domain/values/reserved-words.js';
import type { NumberedCall, Speaker } from '../../sessions/domain/event/open-calls.js';

/** Stands before the id of the invocation. This, and the other marks here, are in no encoded name. */
const SEPARATOR = '@';
/** Before the number of a call, if several have its id. */
const NTH_CALL = ';';
/** Before the place of a call that has no id. */
const PLACE = '+';
/** Before the number of a request. */
const NTH_REQUEST = ':';
/** Before the name and the branch of an agent. */
const AGENT = ',';
/** Stands first if the name is shown by its hash. */
const HASHED = '=';
/** Fits beside the longest invocation id, with 108 bits of the hash. */
const HASH_LENGTH = 18;
/** Leaves room for the prefixes of events and metadata. */
const MAX_ID_BYTES = 170;

/** Which request of the invocation it is. */
export type RequestPlace =
  /** The id that the request has. */
  | { readonly id: string }
  /** The nth one of a call. */
  | { readonly call: Pick<NumberedCall, 'call' | 'number' | 'nth'>; readonly request: number }
  /** The nth one of the handler, or of another agent in it. */
  | { readonly request: number; readonly speaker?: Speaker | undefined };

/**
 * The id of an approval: of the request, and of its invocation. If both are too long, the request is shown by its hash. A handler
 * that is called again, and asks the same in the same order, gets the same ids.
 */
export function approvalIdOf(place: RequestPlace, invocationId: string): string {
  const name = formatRequestName(place);
  const end = SEPARATOR + invocationId;
  if (Buffer.byteLength(name + end) <= MAX_ID_BYTES) return name + end;
  return HASHED + hash('sha256', name, 'base64url').slice(0, HASH_LENGTH) + end;
}

function formatRequestName(place: RequestPlace): string {
  if ('id' in place) return encoded(place.id);
  if (!('call' in place)) return agentName(place.speaker) + NTH_REQUEST + String(place.request);
  const { call, number, nth } = place.call;
  const ofCall = call.id ? encoded(call.id) + (nth > 1 ? NTH_CALL + String(nth) : '') : PLACE + String(number);
  return ofCall + (place.request > 1 ? NTH_REQUEST + String(place.request) : '');
}

function agentName(speaker: Speaker | undefined): string {
  if (!speaker) return '';
  const { author, branch } = speaker;
  return AGENT + encoded(author) + (branch === undefined ? '' : AGENT + encoded(branch));
}

function encoded(id: string): string {
  return encodeURIComponent(id.toWellFormed());
}

/**
 * The invocation that asks for an approval.
 *
 * @example const invocationId = invocationOfApproval(interruptId);
 */
export function invocationOfApproval(approvalId: string): string {
  const place = approvalId.indexOf(SEPARATOR);
  if (place < 0) throw new InvalidInputError('must be the id of an approval', 'approvalId');
  return approvalId.slice(place + 1);
}

/** The id of the event with the answer. Ids are unique, so an approval is answered once. */
export function formatApprovalAnswerId(approvalId: string): string {
  return RESERVED.ids.answer + approvalId;
}
