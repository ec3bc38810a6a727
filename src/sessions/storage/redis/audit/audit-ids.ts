import type { SessionKey } from '../../../domain/values/ids.js';
import type { StoreProblem, StoreProblemCode } from '../../store-audit.js';
import { ARGUMENTS, TIME } from '../script/base.lua.js';
import { ID_FIELD, flag, keyArguments, recordPattern } from '../script/codec.js';
import { type NumberReply, defineScript } from '../script/script.js';
import { RECORD_TEXT, SESSION } from '../script/session.lua.js';
import { type AuditTools, runAudit } from './audit-session.js';

/** The line of an event that holds its id, in Lua. */
const ID_OF_EVENT = String.raw`
local function idOf(event)
  return string.match(event, '^[^\n]*\n[^\n]*\n[^\n]*\n([^\n]*)')
end
`;

/** Which events of a session to look up. */
interface EventsToFind {
  readonly session: SessionKey;
  readonly from: number;
  readonly count: number;
}

type EventsReply = readonly [lacking: NumberReply, missing: NumberReply, beyond: NumberReply, last: NumberReply];

/** Looks up events by number, and by their ids. Returns the next event, or `undefined` after the last one. */
export async function auditEvents(
  tools: AuditTools,
  { session, from, count }: EventsToFind,
): Promise<{
  readonly problems: readonly StoreProblem[];
  readonly examined: number;
  readonly next: number | undefined;
}> {
  const { repair, keys, app } = tools;
  const call = { keys: app.sessionKeys(session), args: [...keyArguments(session), flag(repair), from, count] };
  const reply = await runAudit<EventsReply>(tools, AUDIT_EVENTS, call);
  const [lacking, missing, beyond, last] = reply.map(Number) as [number, number, number, number];
  const next = from + count;
  const log = keys.withoutPrefix(keys.recordOf(session));
  const problems: StoreProblem[] = [
    ...differing(lacking, session, `${log} does not find ${lacking} events from ${from} on`, repair),
    ...found('EVENT_MISSING', missing, session, `${missing} events from ${from} on are missing`),
    ...found(
      'EVENT_BEYOND_END',
      beyond,
      session,
      `there are ${beyond} events after ${last}, the last one of the record`,
    ),
  ];
  return { problems, examined: Math.max(0, Math.min(count, last - from + 1)), next: next > last ? undefined : next };
}

/** Finds ids that lead to an event with another id, or to one after the last one of the record. */
export async function auditIds(
  tools: AuditTools,
  session: SessionKey,
  fields: readonly string[],
): Promise<readonly StoreProblem[]> {
  const { repair, keys } = tools;
  const key = keys.recordOf(session);
  const reply = await runAudit<readonly NumberReply[]>(tools, AUDIT_IDS, {
    keys: [key],
    args: [flag(repair), ...fields],
  });
  const [wrong = 0, beyond = 0] = reply.map(Number);
  return [
    ...differing(wrong, session, `${keys.withoutPrefix(key)} has ${wrong} ids of other events`, repair),
    ...found('EVENT_BEYOND_END', beyond, session, `there are ${beyond} events after the last one of the record`),
  ];
}

function differing(count: number, session: SessionKey, detail: string, isRepaired: boolean): StoreProblem[] {
  return found('INDEX_DIFFERS', count, session, detail).map((problem) => ({ ...problem, isRepaired }));
}

function found(code: StoreProblemCode, count: number, session: SessionKey, detail: string): StoreProblem[] {
  return count === 0 ? [] : [{ code, ...session, detail }];
}

/**
 * Looks up the next events by number and by their ids, up to the last one of the record; from there, whether events follow.
 *
 * KEYS and ARGV 1–4: see SESSION.
 * ARGV 5 and on: whether to add missing ids (1 or 0), the first event, how many.
 * Returns { how many are not found by their ids, how many are missing, how many are after the last one, the last one }.
 */
export const AUDIT_EVENTS = defineScript(
  'audit-events',
  TIME,
  ARGUMENTS,
  SESSION,
  ID_OF_EVENT,
  String.raw`
local repair, from, count = take() == '1', takeNumber(), takeNumber()
local record = liveRecord()
if not record then return { 0, 0, 0, 0 } end
local lacking, missing, beyond = 0, 0, 0
for number = from, math.min(record.last, from + count - 1) do
  local seq = text(number)
  local event = redis.call('HGET', RECORD, seq)
  local id = event and idOf(event)
  if not event then missing = missing + 1 end
  if id and redis.call('HGET', RECORD, '${ID_FIELD}' .. id) ~= seq then
    lacking = lacking + 1
    if repair then redis.call('HSET', RECORD, '${ID_FIELD}' .. id, seq) end
  end
end
for number = record.last + 1, from + count > record.last and record.last + count or 0 do
  beyond = beyond + redis.call('HEXISTS', RECORD, text(number))
end
return { lacking, missing, beyond, record.last }
`,
);

/**
 * Finds ids that lead to another event, or to one after the last one. An id whose event is missing stays: it refuses a repetition.
 *
 * KEYS 1 record and events.
 * ARGV 1 time, 2 whether to remove ids of other events (1 or 0), then fields of ids.
 * Returns { how many lead to another event, how many to one after the last one }.
 */
export const AUDIT_IDS = defineScript(
  'audit-ids',
  ID_OF_EVENT,
  RECORD_TEXT,
  String.raw`
local wrong, beyond = 0, 0
local last = tonumber(string.match(readRecord(KEYS[1]) or '', ${recordPattern('last')}))
for place = 3, #ARGV do
  local seq = redis.call('HGET', KEYS[1], ARGV[place])
  local event = seq and redis.call('HGET', KEYS[1], seq)
  if event and '${ID_FIELD}' .. (idOf(event) or '') ~= ARGV[place] then
    wrong = wrong + 1
    if ARGV[2] == '1' then redis.call('HDEL', KEYS[1], ARGV[place]) end
  elseif event and last and tonumber(seq) > last then
    beyond = beyond + 1
  end
end
return { wrong, beyond }
`,
);
