import { MAX_ID_BYTES, type StateOwner, compareBytes } from '../../../domain/values/ids.js';
import { DamagedDataError } from '../../../domain/stored/stored-json.js';
import { expectReadableText } from '../../../domain/stored/state-text.js';
import { readExcessError } from '../../../domain/stored/state-size.js';
import type { ListPosition, ListRequest } from '../../session-storage.js';
import type { ListPage } from '../app-scope/app-scope.js';
import {
  type FlatHash,
  type ScriptArguments,
  excessFrom,
  flag,
  limitArguments,
  optional,
  type OwnStateReply,
  ownStateOf,
  sharedStateOf,
} from '../script/codec.js';
import { type RecordText, incarnationIn, shownRecord } from '../../record-text.js';
import type { ScriptRunner } from '../script/script.js';
import { LIST_FILTERED, LIST_SESSIONS } from './list-sessions.lua.js';

type ListReply = readonly [
  now: string,
  total: number | null,
  appState: FlatHash,
  users: readonly (readonly [userId: string, state: FlatHash])[],
  sessions: readonly (readonly [
    userId: string,
    sessionId: string,
    record: RecordText,
    state: OwnStateReply,
    pending: FlatHash,
    metadata: string | null,
  ])[],
  readAt: string,
  examinedTo: readonly [time: string, member: string] | null,
  isCut: number | null,
  damaged: readonly (readonly [userId: string, sessionId: string])[],
  excess: readonly [scope: string, userId: string, sessionId: string, bytes: string] | null,
];

/**
 * Reads one page with one script. On a cluster the state of the app is missing from it. Records are checked here, and by the script only
 * if one of them is damaged: that would take it as long as a quarter of the rest.
 */
export async function readPage(
  scripts: ScriptRunner,
  request: ListRequest,
  keys: readonly string[],
): Promise<ListPage> {
  try {
    return toListPage(request, await repliedPage(scripts, request, keys, false));
  } catch (error) {
    if (!(error instanceof DamagedDataError)) throw error;
    return toListPage(request, await repliedPage(scripts, request, keys, true));
  }
}

function repliedPage(
  scripts: ScriptRunner,
  request: ListRequest,
  keys: readonly string[],
  checksRecords: boolean,
): Promise<ListReply> {
  const { withTotal, filter, offset = 0 } = request;
  const args = [...pageArguments(request), flag(checksRecords)];
  return filter
    ? scripts.read<ListReply>(LIST_FILTERED, { keys, args: [...args, filter.maxExamined, ...filter.entries] })
    : scripts.read<ListReply>(LIST_SESSIONS, { keys, args: [...args, offset, flag(withTotal)] });
}

function toListPage(request: ListRequest, reply: ListReply): ListPage {
  const { appName, withTotal } = request;
  const [, total, appState, users, sessions, readAt, examinedTo, isCut, unreadable, excess] = reply;
  const damaged = unreadable.map(([userId, sessionId]) => ({ appName, userId, sessionId }));
  if (excess) {
    const [scope, userId, sessionId, bytes] = excess;
    throw readExcessError(excessFrom(scope, bytes, request.maxStateBytes), { appName, userId, sessionId });
  }
  const app = sharedStateOf(appState).entries;
  const userStates = new Map(users.map(([userId, state]) => [userId, sharedStateOf(state).entries]));
  for (const [userId, sessionId, , state] of sessions) {
    if (typeof state === 'string') expectReadableText(state, request.maxStateBytes, { appName, userId, sessionId });
  }
  const listed = sessions.map(([userId, sessionId, record, state, , metadata]) => ({
    record: shownRecord({ appName, userId, sessionId }, record),
    metadata: metadata ?? '',
    state: { session: ownStateOf(state), user: userStates.get(userId) ?? [], app },
  }));
  const pending = sessions
    .filter(({ 4: fields }) => fields.length > 0)
    .map(([userId, sessionId, record, , fields]) => ({
      key: { appName, userId, sessionId },
      incarnation: incarnationIn(record),
      pending: fields,
      readAt,
    }));
  return {
    result: {
      sessions: listed,
      ...(damaged.length > 0 && { damaged }),
      ...(withTotal && { total: Number(total) }),
      ...(examinedTo && { examinedTo: positionOfMember(request, examinedTo) }),
      ...(isCut && { isCut: true }),
    },
    pending,
  };
}

/** Decoded in LISTED_SESSIONS. */
function pageArguments(request: ListRequest): ScriptArguments {
  const { userId, order, limit, after, withState, orderBy, maxBytes, maxStateBytes } = request;
  return [
    optional(userId),
    order,
    limit,
    optional(after?.time),
    after ? memberOf(request, after) : '',
    flag(withState !== false),
    flag(orderBy === 'createTime'),
    optional(maxBytes),
    ...limitArguments(maxStateBytes, ['session', 'user', 'app']),
  ];
}

/** Sorts after every id. */
const AFTER_ALL_IDS = '\u{10FFFF}'.repeat(MAX_ID_BYTES);

/** The index member of the cursor. In a user's index, a cursor of another user comes before or after all members. */
function memberOf({ userId }: StateOwner, after: ListPosition): string {
  if (userId === undefined) return `${after.userId}\u0000${after.sessionId}`;
  const order = compareBytes(after.userId, userId);
  if (order === 0) return after.sessionId;
  return order < 0 ? '' : AFTER_ALL_IDS;
}

function positionOfMember({ userId }: StateOwner, [time, member]: readonly [string, string]): ListPosition {
  if (userId !== undefined) return { time: Number(time), userId, sessionId: member };
  const [ofUser = '', sessionId = ''] = member.split('\u0000');
  return { time: Number(time), userId: ofUser, sessionId };
}
