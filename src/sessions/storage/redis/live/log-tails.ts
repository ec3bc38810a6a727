import { groupBy, inBatches } from '../../../domain/stored/batches.js';
import { isExpired } from '../../../domain/values/expiry.js';
import type { LogTail, TailRequest } from '../../session-changes.js';
import type { RedisKeys } from '../redis-keys.js';
import { TIME } from '../script/base.lua.js';
import { flag, optional, recordPattern, parseStoredEvent } from '../script/codec.js';
import { type ScriptRunner, defineScript } from '../script/script.js';
import { RECORD_TEXT } from '../script/session.lua.js';
import { parsePartialMember } from './partial-events.js';

/** Keeps scripts short. */
const LOGS_PER_SCRIPT = 500;
/** What a script returns, about, and how large an event may be that is read beside other logs. */
const MOST_BYTES = { all: 1_000_000, event: 65_536 };

/** Nothing for a session that is gone; of partial events nothing if they are not wanted, or too large. */
type TailReply =
  | readonly [
      lastSeq: string,
      expiresAt: string,
      lastPartial: string,
      events: readonly string[],
      partials: readonly string[] | null,
      bytes: string | null,
    ]
  | null;

/**
 * Reads what is new in many logs, 500 per script, all scripts in parallel. On a cluster each script reads the logs of one user, because
 * they are in one slot.
 */
export async function logTails(
  scripts: ScriptRunner,
  keys: RedisKeys,
  logs: readonly TailRequest[],
  isCluster: boolean,
): Promise<(LogTail | undefined)[]> {
  const userOf = ({ key }: TailRequest): string => keys.baseOfUser(key.appName, key.userId);
  const groups = isCluster ? [...groupBy(logs, userOf).values()] : [logs];
  const portions = groups.flatMap((group) => inBatches(group, { items: LOGS_PER_SCRIPT }));
  const tails = new Map<TailRequest, LogTail | undefined>();
  await Promise.all(
    portions.map(async (portion) => {
      const parts = portion.map(({ key }) => keys.partsOf(key));
      const [now, ...replies] = await scripts.read<readonly [now: string, ...TailReply[]]>(LOG_TAILS, {
        keys: parts.map(({ recordKey }) => recordKey),
        args: [MOST_BYTES.all, ...portion.flatMap((log, index) => toTailArguments(log, parts[index]?.id.length ?? 0))],
      });
      for (const [index, log] of portion.entries()) tails.set(log, parseTailReply(log, replies[index], Number(now)));
    }),
  );
  return logs.map((log) => tails.get(log));
}

function toTailArguments(
  { incarnation, afterSeq, limit, withLastPartial, afterPartial, bytesTo }: TailRequest,
  idBytes: number,
): (string | number)[] {
  const places = `${idBytes} ${afterSeq} ${limit} ${flag(withLastPartial)}`;
  return [`${places} ${optional(afterPartial)} ${optional(bytesTo)}`, incarnation];
}

function parseTailReply(
  { afterSeq, withLastPartial, afterPartial }: TailRequest,
  reply: TailReply | undefined,
  now: number,
): LogTail | undefined {
  if (!reply) return undefined;
  const [lastSeq, expiresAt, lastPartial, events, partials, bytes] = reply;
  return {
    lastSeq: Number(lastSeq),
    livesForMs: Number(expiresAt) - now,
    events: events.map((text, index) => parseStoredEvent(afterSeq + 1 + index, text)),
    ...(withLastPartial && { lastPartial: Number(lastPartial) }),
    ...(afterPartial !== undefined &&
      partials && {
        partials: partials.map(parsePartialMember).filter((partial) => !isExpired(partial.expiresAt, now)),
      }),
    ...(bytes && { bytes: Number(bytes) }),
  };
}

/**
 * Reads what is new in logs.
 *
 * KEYS the records of sessions; on a cluster, of one user. The script makes the other keys of them, if it needs them.
 * ARGV 1 time, 2 about how many bytes to return; then for each session: one line with the bytes of its encoded id, the last known event, most events, whether the number of the last
 *      partial event is wanted (1 or 0), the last known partial event ('' = none wanted), and up to which event to add up bytes ('' = none); its incarnation.
 * Returns the time, then for each session { last event, expiry, last partial event or 0, texts of events, texts of partial events or nothing, bytes or
 *      nothing }, or nothing if it is gone.
 */
export const LOG_TAILS = defineScript(
  'log-tails',
  TIME,
  RECORD_TEXT,
  String.raw`
local left = tonumber(ARGV[2])

-- Up to the first one that is missing, or has no room beside other logs.
local function eventsOf(key, from, to)
  local events = {}
  for seq = from, to do
    local event = left > 0 and redis.call('HGET', key, text(seq))
    if not event or (#KEYS > 1 and #event > ${MOST_BYTES.event}) then break end
    left = left - #event
    events[#events + 1] = event
  end
  return events
end

-- All of them of one log. Nothing if they have no room beside others.
local function partialsOf(key, after)
  local partials = redis.call('ZRANGEBYSCORE', key, '(' .. after, '+inf')
  if #KEYS == 1 then return partials end
  local size = 0
  for _, partial in ipairs(partials) do size = size + #partial end
  if size > left then return false end
  left = left - size
  return partials
end

-- Of the payloads, which trimmed events lack.
local function bytesOf(key, from, to)
  local bytes = 0
  for first = from, to, 500 do
    local seqs = {}
    for seq = first, math.min(first + 499, to) do seqs[#seqs + 1] = text(seq) end
    for _, event in ipairs(redis.call('HMGET', key, unpack(seqs))) do
      local payload = event and string.match(event, '^[^\n]*\n[^\n]*\n[^\n]*\n[^\n]*\n()')
      if payload then bytes = bytes + #event - payload + 1 end
    end
  end
  return bytes
end

local function tailOf(key, place)
  local record = readRecord(key) or ''
  local incarnation, expires, first, last = string.match(record, ${recordPattern('incarnation', 'expires', 'first', 'last')})
  if incarnation ~= ARGV[place + 1] or tonumber(expires) <= now then return false end
  local idBytes, afterSeq, limit, withLast, afterPartial, bytesTo =
    string.match(ARGV[place], '^(%d+) (%d+) (%d+) (%d) (%d*) (%d*)$')
  local base, id = string.sub(key, 1, -9 - idBytes), string.sub(key, -idBytes)
  local tail = { last, expires, '0', {}, false, false }
  if tonumber(limit) > 0 and afterSeq + 1 >= tonumber(first) then
    tail[4] = eventsOf(key, afterSeq + 1, math.min(afterSeq + limit, tonumber(last)))
  end
  if withLast == '1' then
    local member = redis.call('ZRANGE', base .. 'partials:' .. id, -1, -1)[1]
    if member then tail[3] = string.match(member, '^%d+') end
  end
  if afterPartial ~= '' then tail[5] = partialsOf(base .. 'partials:' .. id, afterPartial) end
  if bytesTo ~= '' then
    local isFirst = tonumber(afterSeq) < tonumber(first)
    local ofBase = isFirst and redis.call('HSTRLEN', key, 'base') or 0
    tail[6] = text(ofBase + bytesOf(key, math.max(afterSeq + 1, tonumber(first)), math.min(tonumber(bytesTo), tonumber(last))))
  end
  return tail
end

local tails = { text(now) }
for index, key in ipairs(KEYS) do tails[index + 1] = tailOf(key, 1 + 2 * index) end
return tails
`,
);
