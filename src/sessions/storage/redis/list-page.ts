import { compareBytes } from '../../domain/byte-order.js';
import { MAX_ID_BYTES, type StateOwner } from '../../domain/ids.js';
import type { ListPosition, ListRequest } from '../session-storage.js';
import type { ListPage } from './app-scope.js';
import { flag, optional } from './script-arguments.js';
import type { ScriptRunner } from './script-runner.js';
import { LIST_SESSIONS } from './scripts/list-sessions.js';
import { type FlatHash, type RecordReply, recordOf, sharedStateOf, pairsOf } from './session-replies.js';

type ListReply = readonly [
  now: string,
  total: number | null,
  appState: FlatHash,
  users: readonly (readonly [userId: string, state: FlatHash])[],
  sessions: readonly (readonly [
    userId: string,
    sessionId: string,
    record: RecordReply,
    state: FlatHash,
    pending: FlatHash,
  ])[],
  seenAt: string,
];

/** Runs the one script for lists; the state of the app is missing from it where that lies in another slot. */
export async function readListPage(
  connection: ScriptRunner,
  request: ListRequest,
  [byUpdate = '', byCreation = '', expiring = '', ...others]: readonly string[],
): Promise<ListPage> {
  const { appName, orderBy, order, limit, offset = 0, after, withTotal } = request;
  const sorted = orderBy === 'createTime' ? byCreation : byUpdate;
  const [, total, appState, users, sessions, seenAt] = await connection.read<ListReply>(LIST_SESSIONS, {
    keys: [sorted, expiring, ...others],
    args: [
      optional(request.userId),
      order,
      limit,
      offset,
      optional(after?.time),
      after ? memberOf(request, after) : '',
      flag(withTotal),
    ],
  });
  const ofApp = sharedStateOf(appState).entries;
  const ofUser = new Map(users.map(([userId, state]) => [userId, sharedStateOf(state).entries]));
  const listed = sessions.map(([userId, sessionId, record, state]) => ({
    record: recordOf({ appName, userId, sessionId }, record),
    state: { session: pairsOf(state), user: ofUser.get(userId) ?? [], app: ofApp },
  }));
  const left = sessions
    .filter(({ 4: pending }) => pending.length > 0)
    .map(([userId, sessionId, record, , pending]) => ({
      key: { appName, userId, sessionId },
      incarnation: record[0] ?? '',
      pending,
      seenAt,
    }));
  return { result: { sessions: listed, ...(withTotal && { total: Number(total) }) }, left };
}

/** Sorts after every id. */
const LAST = '\u{10FFFF}'.repeat(MAX_ID_BYTES);

/** The place of a session in an index; in that of a user, also the place of a session of somebody else. */
function memberOf({ userId }: StateOwner, after: ListPosition): string {
  if (userId === undefined) return `${after.userId}\u0000${after.sessionId}`;
  const order = compareBytes(after.userId, userId);
  if (order === 0) return after.sessionId;
  return order < 0 ? '' : LAST;
}
