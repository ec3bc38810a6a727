import { NEVER } from '../../../domain/values/expiry.js';
import type { SessionKey } from '../../../domain/values/ids.js';
import type { StoreProblem } from '../../store-audit.js';
import type { KeyKind, RedisKeys } from '../redis-keys.js';
import { flag } from '../script/codec.js';
import { type NumberReply, defineScript } from '../script/script.js';
import { parseOwnerFromKey } from './audit-members.js';
import { type AuditTools, auditSession, runAudit } from './audit-session.js';

/** The keys of a session besides its record, and whether a repair removes them if there is no record. */
const PARTS: Readonly<Partial<Record<string, { readonly isDerived: boolean }>>> = {
  state: { isDerived: false },
  pending: { isDerived: false },
  anchors: { isDerived: true },
  partials: { isDerived: true },
};

/** What a key is, after its slot: `session`, `user-state`. */
export function wordOf({ name }: KeyKind): string {
  return name.slice(name.lastIndexOf(':') + 1);
}

/** Examines a key that is no index. */
export async function auditKey(tools: AuditTools, key: string): Promise<StoreProblem[]> {
  const kind = tools.keys.kindOf(key);
  if (!kind) return [{ code: 'UNKNOWN_KEY', detail: tools.keys.withoutPrefix(key) }];
  const word = wordOf(kind);
  if (word === 'user-state' || word === 'app-state') return auditState(tools, key);
  const session = kind.name.startsWith('{app|user}') ? parseSessionFromKey(tools.keys, key) : undefined;
  if (!session) return [];
  if (word === 'session') return auditSession(tools, session);
  const part = PARTS[word];
  return part ? auditPart(tools, key, session, part.isDerived) : [];
}

/** The session of one of its keys. */
export function parseSessionFromKey(keys: RedisKeys, key: string): SessionKey | undefined {
  const { appName, userId } = parseOwnerFromKey(keys, key) ?? {};
  const id = /\}:[a-z]+:(.*)$/s.exec(key)?.[1];
  if (appName === undefined || userId === undefined || id === undefined) return undefined;
  return { appName, userId, sessionId: decodeURIComponent(id) };
}

async function auditPart(
  tools: AuditTools,
  key: string,
  session: SessionKey,
  isDerived: boolean,
): Promise<StoreProblem[]> {
  const { keys } = tools;
  const isRepaired = tools.repair && isDerived;
  const call = { keys: [key, keys.recordOf(session)], args: [flag(isRepaired)] };
  const isOrphan = await runAudit<NumberReply>(tools, AUDIT_PART, call);
  if (Number(isOrphan) === 0) return [];
  return [{ code: 'ORPHAN', ...session, detail: `${keys.withoutPrefix(key)} has no record`, isRepaired }];
}

async function auditState(tools: AuditTools, key: string): Promise<StoreProblem[]> {
  const { keys, repair } = tools;
  const code = await runAudit<string>(tools, AUDIT_STATE, { keys: [key], args: [flag(repair), NEVER] });
  if (code !== 'SCOPE_EMPTY' && code !== 'SCOPE_WITHOUT_EXPIRY') return [];
  return [{ code, ...parseOwnerFromKey(keys, key), detail: keys.withoutPrefix(key), isRepaired: repair }];
}

/**
 * Whether a part of a session has no record. Removes it if asked.
 *
 * KEYS 1 part, 2 record.
 * ARGV 1 time, 2 whether to remove it (1 or 0).
 * Returns 1 or 0.
 */
export const AUDIT_PART = defineScript(
  'audit-part',
  String.raw`
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[2], 'record') == 1 then return 0 end
if ARGV[2] == '1' then redis.call('UNLINK', KEYS[1]) end
return 1
`,
);

/**
 * Whether shared state has an expiry, and a key besides.
 *
 * KEYS 1 state.
 * ARGV 1 time, 2 whether to repair (1 or 0), 3 the expiry of state that never expires.
 * Returns what is wrong, or ''.
 */
export const AUDIT_STATE = defineScript(
  'audit-state',
  String.raw`
local fields = redis.call('HLEN', KEYS[1])
if fields == 0 then return '' end
if not redis.call('HGET', KEYS[1], '') then
  if ARGV[2] == '1' then redis.call('HSET', KEYS[1], '', ARGV[3]) end
  return 'SCOPE_WITHOUT_EXPIRY'
end
if fields > 1 then return '' end
if ARGV[2] == '1' then redis.call('UNLINK', KEYS[1]) end
return 'SCOPE_EMPTY'
`,
);
