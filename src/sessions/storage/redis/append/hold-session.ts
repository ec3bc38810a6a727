import type { StoredEvent } from '../../../domain/stored/commit.js';
import { UNCOUNTED } from '../../../domain/stored/state-size.js';
import type { HoldRequest, SessionHead } from '../../planned-write.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { duringRead } from '../connect/driver-errors.js';
import type { RedisKeys } from '../redis-keys.js';
import { TIME } from '../script/base.lua.js';
import {
  type FlatHash,
  flag,
  parseSessionHead,
  idField,
  parseHashPairs,
  recordPattern,
  parseStoredEvent,
} from '../script/codec.js';
import { type NumberReply, type ScriptRunner, defineScript } from '../script/script.js';
import { SHARED_STATE } from '../script/shared-state.lua.js';

/** After a crash of a holder, others wait so long. */
const LEASE_MS = 250;

type HeadReply = readonly [
  now: string,
  serverTime: string,
  heldForMs: NumberReply,
  record: string | null,
  metadata: string | null,
  pending: FlatHash,
  bytes: readonly string[],
  events: FlatHash,
  state?: string | null,
];

/** A session as a script found it. */
export interface FoundSession {
  readonly now: number;
  readonly serverTime: string;
  /** How long another process may hold it. Then nothing else was read. */
  readonly heldForMs: number;
  readonly head: SessionHead | undefined;
  readonly events: ReadonlyMap<string, StoredEvent>;
  /** How many bytes the shared scopes have at most. */
  readonly bounds: Readonly<Record<'user' | 'app', number>>;
}

/**
 * Reads all that decides about writes to a session, and applies its pending writes.
 *
 * @param lease the token of a caller who holds the session from then on; '' reads only
 */
export async function findSession(
  { scripts, keys, app }: { scripts: ScriptRunner; keys: RedisKeys; app: AppScope },
  { key, ids, withMetadata, owners }: HoldRequest,
  lease: string,
): Promise<FoundSession> {
  const { appName, userId } = key;
  const record = keys.recordOf(key);
  const states = [keys.stateOf({ appName, userId }), ...(app.isCluster ? [] : [keys.stateOf({ appName })])];
  const call = {
    keys: [record, keys.pendingOf(key), ...states],
    args: [lease, LEASE_MS, flag(withMetadata), flag(app.isCluster), flag(owners.length > 0), ...ids.map(idField)],
  };
  const [now, serverTime, heldForMs, text, metadata, pending, bytes, found, state = null] = await (lease === ''
    ? scripts.read<HeadReply>(FIND_SESSION, call)
    : duringRead(() => scripts.write<HeadReply>(FIND_SESSION, call)));
  const head =
    text === null ? undefined : parseSessionHead(key, text, state, withMetadata ? (metadata ?? '') : undefined);
  if (head) {
    const { incarnation } = head.record;
    await duringRead(() => app.applyPending({ key, incarnation, pending, readAt: serverTime }));
  }
  const [ofUser = UNCOUNTED, ofApp = UNCOUNTED] = bytes.map(Number);
  return {
    now: Number(now),
    serverTime,
    heldForMs: Number(heldForMs),
    head,
    events: new Map(
      parseHashPairs(found)
        .map(([seq, event]) => parseStoredEvent(seq, event))
        .map((event) => [event.id, event]),
    ),
    bounds: { user: ofUser, app: ofApp },
  };
}

/** Lets others write again, before the lease is over. */
export async function leaveSession(scripts: ScriptRunner, recordKey: string, lease: string): Promise<void> {
  await scripts.write(LEAVE_SESSION, { keys: [recordKey], args: [lease] });
}

/**
 * Reads what decides about writes to a session.
 *
 * KEYS 1 record and events, 2 pending, 3 user state, on a single node also 4 app state.
 * ARGV 1 time, 2 the token of a lease to take ('' = none), 3 how long, 4 with metadata, 5 with pending writes, 6 with the bytes of state (1 or
 *      0 each), 7 and on: fields of ids of events.
 * Returns { now, server time, how long another caller holds the session, record or nothing, metadata or nothing, pending, bytes of each state, number and
 *      text of each stored event, session state as one text }.
 */
export const FIND_SESSION = defineScript(
  'find-session',
  TIME,
  SHARED_STATE,
  String.raw`
local record, held, metadata, state = unpack(redis.call('HMGET', KEYS[1], 'record', 'held', 'metadata', 'state'))
local found = { text(now), text(serverTime), 0, record, false, {}, {}, {}, state }
if not record then return found end
local token, untilTime = string.match(held or '', '^(%S+) (%d+)$')
if token and token ~= ARGV[2] and tonumber(untilTime) > serverTime then
  found[3], found[4] = text(tonumber(untilTime) - serverTime), false
  return found
end
if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], 'held', ARGV[2] .. ' ' .. text(serverTime + ARGV[3])) end
if ARGV[4] == '1' then found[5] = metadata end
if ARGV[5] == '1' then found[6] = redis.call('HGETALL', KEYS[2]) end
for index = 3, ARGV[6] == '1' and #KEYS or 2 do
  local _, bytes = expiryOfState(KEYS[index])
  found[7][index - 2] = text(bytes)
end
local last = tonumber(string.match(record, ${recordPattern('last')}))
for index = 7, #ARGV do
  local seq = redis.call('HGET', KEYS[1], ARGV[index])
  if seq and tonumber(seq) <= last then
    local event = redis.call('HGET', KEYS[1], seq)
    if event then
      found[8][#found[8] + 1] = seq
      found[8][#found[8] + 1] = event
    end
  end
end
return found
`,
);

/**
 * Ends a lease.
 *
 * KEYS 1 record.
 * ARGV 1 time, 2 the token of the lease.
 * Returns nothing.
 */
export const LEAVE_SESSION = defineScript(
  'leave-session',
  String.raw`
local held = redis.call('HGET', KEYS[1], 'held')
if held and string.sub(held, 1, #ARGV[2] + 1) == ARGV[2] .. ' ' then redis.call('HDEL', KEYS[1], 'held') end
`,
);
