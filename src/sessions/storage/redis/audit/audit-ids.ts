import type { SessionKey } from '../../../domain/ids.js';
import type { StoreProblem } from '../../store-audit.js';
import { ARGUMENTS, TIME } from '../script/base.lua.js';
import { flag, keyArguments } from '../script/codec.js';
import { type NumberReply, type ScriptRunner, defineScript } from '../script/script.js';
import { SESSION } from '../script/session.lua.js';
import type { AuditTools } from './audit-session.js';

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

/** Looks up events by their ids. Returns the next event, or `undefined` after the last one. */
export async function auditEvents(
  tools: AuditTools,
  { session, from, count }: EventsToFind,
): Promise<{
  readonly problems: readonly StoreProblem[];
  readonly examined: number;
  readonly next: number | undefined;
}> {
  const { repair, scripts, keys, app } = tools;
  const [, , ids = ''] = keys.ofSession(session);
  const call = { keys: app.sessionKeys(session), args: [...keyArguments(session), flag(repair), from, count] };
  const reply = await run<readonly NumberReply[]>(scripts, repair, AUDIT_EVENTS, call);
  const [lacking = 0, last = 0] = reply.map(Number);
  const next = from + count;
  const detail = `${keys.withoutPrefix(ids)} does not find ${lacking} events from ${from} on`;
  return {
    problems: problemsOf(lacking, session, detail, repair),
    examined: Math.max(0, Math.min(count, last - from + 1)),
    next: next > last ? undefined : next,
  };
}

/** Finds ids that lead to an event with another id. */
export async function auditIds(
  tools: AuditTools,
  session: SessionKey,
  fields: readonly string[],
): Promise<readonly StoreProblem[]> {
  const { repair, scripts, keys } = tools;
  const [, events = '', ids = ''] = keys.ofSession(session);
  // Other fields are groups of events.
  const args = [flag(repair), ...fields.filter((field) => !field.startsWith('\u0000'))];
  const wrong = Number(await run<NumberReply>(scripts, repair, AUDIT_IDS, { keys: [events, ids], args }));
  return problemsOf(wrong, session, `${keys.withoutPrefix(ids)} has ${wrong} ids of other events`, repair);
}

function problemsOf(count: number, session: SessionKey, detail: string, isRepaired: boolean): StoreProblem[] {
  return count === 0 ? [] : [{ code: 'INDEX_DIFFERS', ...session, detail, isRepaired }];
}

function run<Reply>(
  scripts: ScriptRunner,
  isWrite: boolean,
  ...[script, call]: Parameters<ScriptRunner['write']>
): Promise<Reply> {
  return isWrite ? scripts.write<Reply>(script, call) : scripts.read<Reply>(script, call);
}

/**
 * Looks up the next events by their ids, up to the last one of the record.
 *
 * KEYS and ARGV 1–4: see SESSION.
 * ARGV 5 and on: whether to add missing ids (1 or 0), the first event, how many.
 * Returns { how many are not found, the last event }.
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
if not record then return { 0, 0 } end
local lacking = 0
for number = from, math.min(record.last, from + count - 1) do
  local seq = text(number)
  local event = redis.call('HGET', EVENTS, seq)
  local id = event and idOf(event)
  if id and redis.call('HGET', IDS, id) ~= seq then
    lacking = lacking + 1
    if repair then redis.call('HSET', IDS, id, seq) end
  end
end
if repair and lacking > 0 then expireSession(record.expires, record.expires) end
return { lacking, record.last }
`,
);

/**
 * Finds ids that lead to another event. An id whose event is missing stays: it refuses a repetition.
 *
 * KEYS 1 events, 2 ids.
 * ARGV 1 time, 2 whether to remove them (1 or 0), then ids.
 * Returns how many there are.
 */
export const AUDIT_IDS = defineScript(
  'audit-ids',
  ID_OF_EVENT,
  String.raw`
local wrong = 0
for place = 3, #ARGV do
  local seq = redis.call('HGET', KEYS[2], ARGV[place])
  local event = seq and redis.call('HGET', KEYS[1], seq)
  if event and idOf(event) ~= ARGV[place] then
    wrong = wrong + 1
    if ARGV[2] == '1' then redis.call('HDEL', KEYS[2], ARGV[place]) end
  end
end
return wrong
`,
);
