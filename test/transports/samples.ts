import { Session } from '../../src/index.js';
import type { LoggedEvent, SessionMetadata } from '../../src/index.js';
import type { SessionRecord } from '../../src/storage.js';
import type { SessionSummary } from '../../src/summarizer/index.js';

export const KEY = { appName: 'shop', userId: 'ann', sessionId: 'cart' } as const;
export const REFERENCE = { id: 'cart', appName: 'shop', userId: 'ann' } as const;
export const USER = { appName: 'shop', userId: 'ann' } as const;

/** The largest number that a query of REST may have. All counts and times fit in. */
export const LARGE = 999_999_999_999_999;
/** The largest number that JSON carries exactly. */
export const LARGEST = Number.MAX_SAFE_INTEGER;

/** Ids that a path, a query, a document or a query parser may change. */
export const ODD_IDS: readonly string[] = [
  'a b',
  'a/b',
  '/a/',
  'a\\b',
  '...',
  '.hidden',
  'a?b=c&d#e',
  'a%2Fb',
  '%',
  '%zz',
  '%00',
  'a+b',
  'a;b,c:d@e',
  '"quoted"',
  "it's",
  '$name',
  '{id}',
  ':sessionId',
  '*',
  'null',
  'undefined',
  '0',
  '007',
  '1e3',
  '9007199254740993',
  '__proto__',
  'constructor',
  'toString',
  'events',
  'state',
  'ä',
  'a\u0308',
  'Straße',
  '日本語',
  'שלום',
  '👩‍👩‍👧',
  '\u{1F600}\u200D',
  'a\u2028b',
  'x'.repeat(191),
  '😀'.repeat(47),
];

/** Values of every kind that JSON has, and keys that objects treat specially. */
export const JSON_VALUES: Record<string, unknown> = JSON.parse(`{
  "zulu": "first in order", "alpha": "last in order", "10": "a number as key",
  "null": null, "false": false, "true": true, "zero": 0, "empty text": "", "empty list": [], "empty object": {},
  "whole": ${LARGEST}, "below": ${-LARGEST}, "fraction": 0.1, "huge": 1.7976931348623157e308, "tiny": 5e-324,
  "user:theme": "dark", "app:currency": "EUR", "temp:draft": { "kept": [null, { "deep": [[[["end"]]]] }] },
  "text": "line\\nbreak \\u0000 \\u2028 \\ud83d\\ude00 é e\\u0301 \\"quoted\\" \\\\ </script> \${x} %s",
  "number as text": "1", "true as text": "true",
  "": "empty key", "__proto__": { "polluted": true }, "constructor": { "prototype": null }, "toString": 1, "a.b": 1, "$where": 1,
  "ключ": "значение", "😀": "key"
}`) as Record<string, unknown>;

/** Metadata with all fields, and with names that objects treat specially. */
export const FULL_METADATA: SessionMetadata = JSON.parse(`{
  "title": "Order 7 \u2028 😀", "status": "open", "tags": ["__proto__", "a:b", "é"],
  "labels": { "region": "eu", "__proto__": "x" }, "fields": { "cart": { "items": [null, 0.1] }, "__proto__": { "polluted": true }, "10": 1 }
}`) as SessionMetadata;

/** An event with all fields that are known, and with unknown ones. */
export const FULL_EVENT = {
  id: 'event/1 ä',
  invocationId: 'inv 1',
  author: 'agent',
  branch: 'root.child',
  timestamp: 1_767_225_600_123,
  content: {
    role: 'model',
    parts: [
      { text: 'Hello \u2028 😀' },
      { functionCall: { id: 'call-1', name: 'search', args: JSON_VALUES } },
      { functionResponse: { id: 'call-1', name: 'search', response: { rows: [null, 1, 'two'] } } },
      { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
    ],
  },
  actions: {
    stateDelta: JSON_VALUES,
    stateRemovals: ['draft', 'user:old', ''],
    metadataDelta: { title: null, tags: { add: ['a:b'], remove: [] }, labels: { region: null }, fields: JSON_VALUES },
    artifactDelta: { 'report.pdf': 2 },
    skipSummarization: false,
    transferToAgent: 'billing',
    escalate: true,
    custom: { nested: [null] },
  },
  longRunningToolIds: ['call-1'],
  usageMetadata: { totalTokenCount: 12, other: null },
  errorCode: 'E1',
  errorMessage: 'message',
  customMetadata: JSON_VALUES,
  turnComplete: true,
  interrupted: false,
  groundingMetadata: { sources: [] },
  unknownField: { kept: null },
};

/** The event as it is stored. */
export const STORED_EVENT = { ...FULL_EVENT, seq: LARGE } as unknown as LoggedEvent;

/** An event that has only what every event has. */
export const SMALL_EVENT = {
  id: 'e-2',
  seq: 1,
  invocationId: '',
  timestamp: 0,
  actions: { stateDelta: {} },
} as unknown as LoggedEvent;

/** A session as clients receive it, with a different value in every field. */
export const FULL_SESSION = {
  id: 'cart/1 ä',
  appName: 'shop 😀',
  userId: 'ann?',
  saveKey: 'shop%20%F0%9F%98%80/ann%3F',
  createTime: 1_767_225_599_001,
  state: JSON_VALUES,
  metadata: FULL_METADATA,
  events: [STORED_EVENT, SMALL_EVENT],
  eventsTruncated: true,
  unreadable: 'ENCRYPTION_KEY_UNKNOWN',
  turnsOnly: true,
  lastUpdateTime: 1_767_225_600_002,
  version: LARGE,
  conversationCount: 7,
} as const;

/** A session that was just created. */
export const SMALL_SESSION = {
  id: 'new',
  appName: 'shop',
  userId: 'ann',
  saveKey: 'shop/ann',
  createTime: 0,
  state: {},
  metadata: { tags: [], labels: {}, fields: {} } as SessionMetadata,
  events: [] as LoggedEvent[],
  lastUpdateTime: 0,
  version: 0,
  conversationCount: 0,
} as const;

export type SessionJson = typeof SMALL_SESSION | typeof FULL_SESSION;

const jsonOfSessions = new WeakMap<Session, SessionJson>();

/** What clients receive of this session. */
export function jsonOf(session: Session): SessionJson {
  return jsonOfSessions.get(session) ?? SMALL_SESSION;
}

/** The session object of the service with these values. */
export function sessionOf(json: SessionJson): Session {
  const { id: sessionId, appName, userId, createTime, lastUpdateTime, version, conversationCount } = json;
  const record = {
    appName,
    userId,
    sessionId,
    createTime,
    lastUpdateTime,
    lastSeq: version,
    counters: { turns: conversationCount },
    turnsOnly: 'turnsOnly' in json,
  };
  const session = new Session(record as unknown as SessionRecord, json.state, [...json.events], json.metadata);
  if ('eventsTruncated' in json) session.eventsTruncated = true;
  if ('unreadable' in json) session.unreadable = json.unreadable;
  jsonOfSessions.set(session, json);
  return session;
}

export const FULL_SUMMARY: SessionSummary = {
  sessionId: 'cart',
  branch: 'root.writer',
  text: 'They spoke of \u2028 cheese 😀.',
  segments: 3,
  seq: LARGE,
  fromSeq: 3,
  toSeq: 41,
  createTime: 1_767_225_600_003,
  model: 'a model',
  promptVersion: 'v2',
  originalEventCount: 44,
  compressedEventCount: 5,
  compressionRatio: 88.636_363_636_363_64,
  inputTokens: 1_000,
  outputTokens: 100,
  durationMs: 1_234,
  isInForce: true,
};

/** Without the fields that a summary may lack. */
export const SMALL_SUMMARY: SessionSummary = {
  sessionId: 'cart',
  text: '',
  segments: 0,
  seq: 2,
  fromSeq: 1,
  toSeq: 1,
  createTime: 0,
  originalEventCount: 0,
  compressedEventCount: 0,
  compressionRatio: 0,
  isInForce: false,
};
