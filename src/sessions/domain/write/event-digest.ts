import { isRedacted } from '../event/event-inspection.js';
import { crc32 } from 'node:zlib';
import { digestOf } from '../values/json-digest.js';
import { redactedEvent, redactionOf } from './redacted-event.js';
import { epochMilliseconds } from '../process/clock.js';
import type { StoredEvent } from '../stored/commit.js';
import type { Event } from '../event/event.js';
import { isTrimmed, loggedEvent } from '../stored/stored-json.js';

/** The fields of a submitted event that are compared with a stored one. */
export interface ComparedEvent {
  /** The {@link eventDigest} of the event. */
  readonly digest: string;
  /** That of what would be left of the event if it were redacted. */
  readonly redactedDigest: string;
  /** The caller's timestamp; undefined if it was generated. */
  readonly givenTimestamp: number | undefined;
}

/** Not a base64url character, so the last one ends the content digest. */
const SEPARATOR = '.';

/**
 * The digest of an event's content, and its timestamp. It remains when the payload is trimmed, and is computed only then,
 * because most events never are. It ignores `seq`, a missing `invocationId`, the order of removals, and top-level fields
 * that are `null`, since GraphQL returns missing fields as `null`.
 */
export function eventDigest(event: Event): string {
  const isInPart = event.redaction && !isRedacted(event);
  // Which kinds are gone is not known later, so what would be left of all is compared.
  const {
    seq: _seq,
    timestamp,
    ...fields
  } = isInPart ? redactedEvent(event, redactionOf(event, { at: 0, reason: '' })) : event;
  const { stateDelta, stateRemovals = [], ...actions } = fields.actions;
  const content: Record<string, unknown> = {
    ...fields,
    invocationId: fields.invocationId ?? '',
    actions: { ...actions, stateDelta, stateRemovals: stateRemovals.toSorted() },
  };
  if (fields.redaction) {
    // The values may be gone, too.
    const keys = [...Object.keys(stateDelta), ...stateRemovals].toSorted();
    Object.assign(content, { redaction: true, actions: { ...actions, stateRemovals: keys } });
  }
  const set = Object.entries(content).filter(([, value]) => value !== null);
  return digestOf(Object.fromEntries(set)) + SEPARATOR + timestamp;
}

/** The {@link eventDigest} of a stored event. */
export function payloadDigest(payload: string): string {
  return eventDigest(loggedEvent({ payload, seq: 0 }));
}

/**
 * A checksum of a payload, for a store whose texts somebody else may change: the doctor compares it. It is cheap enough for
 * every append, and no digest.
 *
 * @example insert({ id, payload, digest: payloadChecksum(payload) });
 */
export function payloadChecksum(payload: string): string {
  return String(crc32(payload));
}

/** Whether it is an {@link eventDigest}, and not a {@link payloadChecksum}. */
export function isDigest(text: string): boolean {
  return text.includes(SEPARATOR);
}

/**
 * Whether a submitted event equals the stored one with the same id. Compares the timestamp only if the caller set it,
 * so that a retry may send the original event or the one that the store returned. Of an event that was redacted since, what is left is
 * compared: a retry of the original finds it, and brings nothing back. No digest of the old content is kept: short texts could be guessed.
 */
export function isSameEvent(submitted: ComparedEvent, stored: StoredEvent): boolean {
  const { digest, givenTimestamp } = submitted;
  const storedDigest = isTrimmed(stored) ? stored.digest : eventDigest(loggedEvent(stored));
  const content = getDigestContent(storedDigest);
  if (getDigestContent(digest) !== content && getDigestContent(submitted.redactedDigest) !== content) return false;
  return givenTimestamp === undefined || isSameTime(givenTimestamp, timestampOf(storedDigest));
}

/** The timestamp in a digest. */
export function timestampOf(digest: string): number {
  return Number(digest.slice(digest.lastIndexOf(SEPARATOR) + 1));
}

function getDigestContent(digest: string): string {
  return digest.slice(0, digest.lastIndexOf(SEPARATOR));
}

/** Milliseconds before 1973 look like seconds when they are submitted again. */
function isSameTime(given: number, stored: number): boolean {
  return given === stored || epochMilliseconds(given, '$.timestamp') === stored;
}
