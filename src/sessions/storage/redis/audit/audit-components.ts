import type { StoreProblem } from '../../store-audit.js';
import { TIME } from '../script/base.lua.js';
import { flag } from '../script/codec.js';
import { type NumberReply, defineScript } from '../script/script.js';
import type { AuditTools } from './audit-session.js';

/** Examines a key of components: whether a session is in the indexes of its slot, and whether a list is of a session. */
export async function auditComponents(tools: AuditTools, key: string): Promise<StoreProblem[]> {
  const [, kind, id = '', name = ''] = /\}:(component|items):([^:]*)(?::(.*))?$/s.exec(key) ?? [];
  const session = decodeURIComponent(id);
  if (kind === 'component') return auditHeads(tools, key, session);
  return kind === 'items' ? auditItems(tools, key, session, decodeURIComponent(name)) : [];
}

async function auditHeads(tools: AuditTools, key: string, session: string): Promise<StoreProblem[]> {
  const { scripts, keys, repair } = tools;
  const [heads, sessions, expiring] = keys.ofComponents(session);
  const call = { keys: [heads, sessions, expiring], args: [flag(repair), session] };
  const isWrong = repair
    ? await scripts.write<NumberReply>(AUDIT_COMPONENTS, call)
    : await scripts.read<NumberReply>(AUDIT_COMPONENTS, call);
  if (Number(isWrong) === 0) return [];
  const detail = `${keys.withoutPrefix(key)} is not in the indexes of its slot as it says`;
  return [{ code: 'INDEX_DIFFERS', detail, isRepaired: repair }];
}

/** Items without a head are data, so they stay. */
async function auditItems(tools: AuditTools, key: string, session: string, name: string): Promise<StoreProblem[]> {
  const { scripts, keys } = tools;
  const [heads] = keys.ofComponents(session);
  const call = { keys: [key, heads], args: [`l:${name}`] };
  const isOrphan = await scripts.read<NumberReply>(AUDIT_ITEMS, call);
  if (Number(isOrphan) === 0) return [];
  return [{ code: 'ORPHAN', detail: `${keys.withoutPrefix(key)} is a list of no component` }];
}

/**
 * Whether a live session of components is in the indexes as it says. Corrects them if asked.
 *
 * KEYS 1 the hash of the session, 2 sessions, 3 expiring ones, of its slot.
 * ARGV 1 time, 2 whether to repair (1 or 0), 3 session.
 * Returns whether something was wrong (1 or 0).
 */
export const AUDIT_COMPONENTS = defineScript(
  'audit-components',
  TIME,
  String.raw`
local expiry, removal = string.match(redis.call('HGET', KEYS[1], '') or '', '^(%d+)\n(%d+)$')
expiry, removal = tonumber(expiry), tonumber(removal)
if not expiry or expiry <= now then return 0 end
local expected = expiry < NEVER and expiry or nil
local due = tonumber(redis.call('ZSCORE', KEYS[3], ARGV[3]))
if redis.call('ZSCORE', KEYS[2], ARGV[3]) and due == expected then return 0 end
if ARGV[2] == '0' then return 1 end

local isFirst, isFirstToExpire = redis.call('EXISTS', KEYS[2]) == 0, redis.call('EXISTS', KEYS[3]) == 0
redis.call('ZADD', KEYS[2], 0, ARGV[3])
extendExpiry(KEYS[2], removal, isFirst)
if expected then
  redis.call('ZADD', KEYS[3], text(expected), ARGV[3])
  extendExpiry(KEYS[3], removal, isFirstToExpire)
else
  redis.call('ZREM', KEYS[3], ARGV[3])
end
return 1
`,
);

/**
 * Whether a list has no head.
 *
 * KEYS 1 items, 2 the hash of the session.
 * ARGV 1 time, 2 the field of the head.
 * Returns 1 or 0.
 */
export const AUDIT_ITEMS = defineScript(
  'audit-items',
  String.raw`
return redis.call('EXISTS', KEYS[1]) == 1 and not redis.call('HGET', KEYS[2], ARGV[2]) and 1 or 0
`,
);
