import type { SessionKey } from '../../../domain/values/ids.js';
import type { StoreProblem, StoreProblemCode } from '../../store-audit.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { REGISTER } from '../app-scope/cluster-app-scope.js';
import type { RedisKeys } from '../redis-keys.js';
import { ARGUMENTS, TIME } from '../script/base.lua.js';
import { READABLE_RECORD, flag, keyArguments } from '../script/codec.js';
import { type NumberReply, type Script, type ScriptCall, type ScriptRunner, defineScript } from '../script/script.js';
import { SESSION } from '../script/session.lua.js';

/** What an audit uses. */
export interface AuditTools {
  readonly scripts: ScriptRunner;
  readonly keys: RedisKeys;
  readonly app: AppScope;
  readonly repair: boolean;
}

/** Runs a script that writes only if it repairs. */
export function runAudit<Reply>({ scripts, repair }: AuditTools, script: Script, call: ScriptCall): Promise<Reply> {
  return repair ? scripts.write<Reply>(script, call) : scripts.read<Reply>(script, call);
}

type SessionReply = readonly [expires: string, ...problems: string[]];

/** Compares the indexes of a session with its record. */
export async function auditSession(tools: AuditTools, key: SessionKey): Promise<StoreProblem[]> {
  const { app, repair } = tools;
  const call = { keys: app.sessionKeys(key), args: [...keyArguments(key), flag(repair)] };
  const reply = await runAudit<SessionReply>(tools, AUDIT_SESSION, call);
  const [expires, ...found] = reply;
  const problems: StoreProblem[] = [];
  for (let place = 0; place < found.length; place += 2) {
    const code = found[place] as StoreProblemCode;
    const detail = found[place + 1] ?? '';
    const isIndex = code === 'INDEX_DIFFERS';
    problems.push({ code, ...key, detail: DETAILS[code]?.(tools, detail) ?? detail, isRepaired: repair && isIndex });
  }
  return expires ? [...problems, ...(await auditRegistration(tools, key, expires))] : problems;
}

/** What is said about the key of a problem. */
const DETAILS: Readonly<Partial<Record<StoreProblemCode, (tools: AuditTools, key: string) => string>>> = {
  INDEX_DIFFERS: ({ keys }, index) => `${keys.withoutPrefix(index)} does not have the session as its record says`,
  ORPHAN: ({ keys }, key) => `${keys.withoutPrefix(key)} has no record`,
};

/** Lists of an app and the purge find a session through its registered app and user. */
async function auditRegistration(
  { scripts, keys, repair }: AuditTools,
  key: SessionKey,
  expires: string,
): Promise<StoreProblem[]> {
  const { appName, userId } = key;
  const places = [
    { index: keys.usersOf(appName), member: userId, latest: expires, args: ['', userId, expires, expires] },
    { index: keys.apps, member: appName, latest: '0', args: [appName, expires] },
  ];
  const problems: StoreProblem[] = [];
  for (const { index, member, latest, args } of places) {
    const isRight = await scripts.read<NumberReply>(AUDIT_SCORE, { keys: [index], args: [member, latest] });
    if (Number(isRight) === 1) continue;
    if (repair) await scripts.write(REGISTER, { keys: [index], args });
    const detail = `${keys.withoutPrefix(index)} lacks ${JSON.stringify(member)}, or has it too late`;
    problems.push({ code: 'INDEX_DIFFERS', ...key, detail, isRepaired: repair });
  }
  return problems;
}

/**
 * Compares indexes with the record of a session, and makes them agree with it if asked.
 *
 * KEYS and ARGV 1–4: see SESSION.
 * ARGV 5: whether to repair (1 or 0).
 * Returns { the expiry, or '' without a live session, then code and detail of each problem }.
 */
export const AUDIT_SESSION = defineScript(
  'audit-session',
  TIME,
  ARGUMENTS,
  SESSION,
  String.raw`
local repair = take() == '1'
local stored = readRecord(RECORD)
if not stored and redis.call('EXISTS', RECORD) == 1 then return { '', 'ORPHAN', RECORD } end
if stored and not string.match(stored, ${READABLE_RECORD}) then
  return { '', 'RECORD_UNREADABLE', 'the record of the session is damaged' }
end
local record = liveRecord()
if not record then return { '' } end
local metadata = redis.call('HGET', RECORD, 'metadata')
local found = { text(record.expires) }
local isWrong = false

local function note(code, detail)
  found[#found + 1] = code
  found[#found + 1] = detail
end

local function noteIndex(key)
  isWrong = true
  note('INDEX_DIFFERS', key)
end

local entries = entriesIn(metadata)
for _, index in ipairs(INDEXES) do
  local expected = { record.updated, record.created, record.expires < NEVER and record.expires or nil }
  for place = 1, 3 do
    local score = tonumber(redis.call('ZSCORE', index.by[place], index.member))
    if score ~= expected[place] then noteIndex(index.by[place]) end
  end
  for _, entry in ipairs(entries) do
    if not redis.call('ZSCORE', index.by[4], memberOfEntry(entry, record.created, index.member)) then
      noteIndex(index.by[4])
      break
    end
  end
end

local lines = #entries > 0 and text(record.created) .. '\n' .. table.concat(entries, '\n') .. '\n' or false
if redis.call('HGET', ENTRIES, SESSION_ID) ~= lines then noteIndex(ENTRIES) end
if isWrong and repair then
  countIndexes(true)
  expectEntries()
  indexSession(record.updated, record.created, record.expires, 0)
  redis.call('HDEL', ENTRIES, SESSION_ID)
  indexEntries(SESSION_ID, record.created, metadata)
  for _, index in ipairs(INDEXES) do renewIndex(index) end
end

local waiting = tonumber(redis.call('ZSCORE', CHANGED, CHANGED_MEMBER)) or 0
if waiting ~= record.waiting then
  note('INDEX_DIFFERS', CHANGED)
  if repair and record.waiting > 0 then
    local isFirst = redis.call('ZCARD', CHANGED) == 0
    redis.call('ZADD', CHANGED, text(record.waiting), CHANGED_MEMBER)
    extendExpiry(CHANGED, record.expires, isFirst)
  elseif repair then
    redis.call('ZREM', CHANGED, CHANGED_MEMBER)
  end
end

return found
`,
);

/**
 * Whether an index has a member at this score or below it.
 *
 * KEYS 1 index.
 * ARGV 1 time, 2 member, 3 score.
 * Returns 1 or 0.
 */
export const AUDIT_SCORE = defineScript(
  'audit-score',
  String.raw`
local score = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[2]))
return score and score <= tonumber(ARGV[3]) and 1 or 0
`,
);
