import type { EncryptionError } from '../sessions/domain/errors/encryption-errors.js';
import type { StoreProblemCode } from '../sessions/storage/store-audit.js';

/** What a code means. */
export interface FindingKind {
  /** `warning`: there may be a good reason for it. */
  readonly severity: 'error' | 'warning';
  readonly meaning: string;
  /** How `repair` mends it; `undefined` if it does not. */
  readonly repair?: string | undefined;
}

/**
 * All codes. They never change.
 *
 * @example FINDINGS.STATE_DIFFERS.meaning; // 'the stored state of the session is not what its events say'
 */
export const FINDINGS = {
  EVENT_MISSING: { severity: 'error', meaning: 'the log has a gap' },
  EVENT_BEYOND_END: { severity: 'error', meaning: 'the log has events after the last one of the record' },
  EVENT_UNREADABLE: {
    severity: 'error',
    meaning: 'the text of an event is not the JSON of an event',
    repair: 'replaces it by one that keeps what the session has, if no other event is wrong; not a summary or a rewind',
  },
  EVENT_ALTERED: { severity: 'error', meaning: 'an event is not what was appended: its text or its id differs' },
  RECORD_UNREADABLE: {
    severity: 'error',
    meaning: 'the record of a session, or the state of a user or an app, cannot be read',
  },
  SESSION_UNREADABLE: { severity: 'error', meaning: 'a session could not be checked: it holds what no version stores' },
  RECORD_DIFFERS: {
    severity: 'error',
    meaning: 'the last event or a time of the record contradicts the log',
    repair: 'appends an event',
  },
  ENCRYPTION_KEY_WRONG: {
    severity: 'error',
    meaning: 'an encrypted text does not open: it has another key, or was altered or moved',
  },
  ENCRYPTION_KEY_UNKNOWN: { severity: 'error', meaning: 'the key of an encrypted text is not there' },
  ENCRYPTION_VERSION_UNKNOWN: { severity: 'error', meaning: 'a newer version has encrypted a text' },
  PLAIN_TEXT_REFUSED: {
    severity: 'error',
    meaning: 'a text of an encrypted store is not encrypted, and `allowPlain` is off',
  },
  NOT_ENCRYPTED: {
    severity: 'warning',
    meaning: 'texts of an encrypted store are not encrypted, and `allowPlain` is on',
  },
  STATE_DIFFERS: {
    severity: 'error',
    meaning: 'the stored state of the session is not what its events say',
    repair: 'appends an event with the difference',
  },
  STATE_TOO_LARGE: {
    severity: 'error',
    meaning: 'the state of a session, a user or an app is larger than its limit, so that reads refuse it',
  },
  STATE_NOT_COMPARED: {
    severity: 'warning',
    meaning: 'the events build more state than is loaded; it is not compared with the stored one',
  },
  METADATA_DIFFERS: {
    severity: 'error',
    meaning: 'an entry of the metadata is not what the last event to change it says',
    repair: 'appends an event with the difference',
  },
  COUNTERS_DIFFER: {
    severity: 'error',
    meaning: 'a counter of the session is not the sum of its events',
    repair: 'appends an event and adds the difference',
  },
  MARKS_DIFFER: {
    severity: 'error',
    meaning: 'the rewound ranges or the summary of the record contradict the log',
    repair: 'appends an event and sets them',
  },
  CHECKPOINT_DIFFERS: {
    severity: 'error',
    meaning: 'a checkpoint is not what the events up to it say',
    repair: 'derives it anew from the log',
  },
  ANCHOR_MISSING: {
    severity: 'error',
    meaning: 'an event with which a view can begin is not found as such',
    repair: 'marks the event',
  },
  INVOCATION_DIFFERS: {
    severity: 'error',
    meaning: 'the index by invocation does not find an event, or finds one of another invocation',
    repair: 'corrects the index',
  },
  USAGE_TOO_HIGH: {
    severity: 'error',
    meaning: 'the tokens of the session are more than its events report',
    repair: 'lowers them to what the events report; those of the user and the app stay',
  },
  USAGE_TOO_LOW: {
    severity: 'warning',
    meaning: 'the tokens of the session are fewer than its events report; counting may have been off',
    repair: 'raises them to what the events report; those of the user and the app stay',
  },
  TOOL_RESPONSE_WITHOUT_CALL: { severity: 'error', meaning: 'a tool response has no call before it' },
  TOOL_CALL_WITHOUT_RESPONSE: {
    severity: 'error',
    meaning: 'the user spoke again before a tool call had its response, and it has none since',
    repair: 'appends a response that says that the process ended',
  },
  EXPIRY_MISSING: {
    severity: 'error',
    meaning: 'a session, or the state of a user or an app, never expires, although the settings give it a lifetime',
    repair: 'sets the lifetime of the settings, from now on',
  },
  SHARED_STATE_UNEXPLAINED: {
    severity: 'warning',
    meaning:
      'a key of a user or an app is not what the last event to write it says; it may have been written without an event',
  },
  ORPHAN: {
    severity: 'error',
    meaning: 'data belongs to no session',
    repair: 'removes it if it follows from other data; events, state and tokens stay',
  },
  INDEX_DIFFERS: {
    severity: 'error',
    meaning: 'an index lacks something, or has something that does not exist',
    repair: 'corrects the index',
  },
  SCOPE_EMPTY: {
    severity: 'error',
    meaning: 'there is an expiry of state without state',
    repair: 'removes the expiry',
  },
  SCOPE_WITHOUT_EXPIRY: {
    severity: 'error',
    meaning: 'state of a user or an app has no expiry field',
    repair: 'sets it to never',
  },
  UNKNOWN_KEY: { severity: 'warning', meaning: 'a key begins with the prefix and is not one of the store' },
} as const satisfies Readonly<Record<string, FindingKind>> & Readonly<Record<StoreProblemCode, FindingKind>>;

/** Names what is wrong. */
export type FindingCode = keyof typeof FINDINGS;

/** Something that is wrong in a store. */
export interface Finding {
  readonly code: FindingCode;
  readonly severity: FindingKind['severity'];
  readonly appName?: string | undefined;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** What exactly: numbers, names of keys, tables. Never the content of events or state. */
  readonly detail: string;
  /** Whether it was mended. */
  readonly repaired: boolean;
}

/** What a check notes; who it is about is added later. */
export interface Note {
  readonly code: FindingCode;
  readonly detail: string;
}

/** Notes what is missing between the event that was expected next and the one that came. */
export function gapNote(expected: number, came: number): Note {
  const range = came - 1 === expected ? `${expected}` : `${expected} to ${came - 1}`;
  return { code: 'EVENT_MISSING', detail: `the log has no event ${range}` };
}

/** Notes why a text cannot be opened, and which one it is. */
export function encryptionNote({ code, message }: EncryptionError, which?: string): Note {
  return { code, detail: which === undefined ? message : `${which}: ${message}` };
}

/** A finding, with the severity of its code. */
export function finding(
  { code, detail }: Note,
  { appName, userId, sessionId }: Pick<Finding, 'appName' | 'userId' | 'sessionId'>,
  repaired = false,
): Finding {
  const { severity } = FINDINGS[code];
  return {
    code,
    severity,
    ...(appName !== undefined && { appName }),
    ...(userId !== undefined && { userId }),
    ...(sessionId !== undefined && { sessionId }),
    detail,
    repaired,
  };
}
