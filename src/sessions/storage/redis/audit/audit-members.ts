import type { SessionKey, StateOwner } from '../../../domain/values/ids.js';
import type { StoreProblem } from '../../store-audit.js';
import type { RedisKeys } from '../redis-keys.js';
import { TIME } from '../script/base.lua.js';
import { flag } from '../script/codec.js';
import { type NumberReply, defineScript } from '../script/script.js';
import { type AuditTools, runAudit } from './audit-session.js';

/** The indexes whose members are sessions. */
export type MemberKind = 'by-update' | 'by-creation' | 'expiring' | 'by-entry' | 'entries';

export const MEMBER_KINDS: readonly string[] = [
  'by-update',
  'by-creation',
  'expiring',
  'by-entry',
  'entries',
] satisfies MemberKind[];

/** An index, whose sessions it has, and its kind. */
export interface MemberIndex {
  readonly key: string;
  readonly owner: StateOwner;
  readonly kind: MemberKind;
}

/** Finds members of an index that are no session. Those of expired sessions stay until the next purge. */
export async function auditMembers(
  tools: AuditTools,
  { key, owner, kind }: MemberIndex,
  members: readonly string[],
): Promise<StoreProblem[]> {
  if (members.length === 0) return [];
  const { keys, repair } = tools;
  const sessions = members.map((member) => parseIndexMember(owner, kind, member));
  const [, , expiring] = keys.indexesOf(owner);
  const call = {
    keys: [key, expiring, ...sessions.map((session) => keys.recordOf(session))],
    args: [flag(repair), ...members.flatMap((member) => [member, nameIn(kind, member)])],
  };
  const stale = await runAudit<NumberReply[]>(tools, AUDIT_MEMBERS, call);
  return stale.map((place) => {
    const detail = `${keys.withoutPrefix(key)} has a session that does not exist`;
    return { code: 'INDEX_DIFFERS', ...(sessions[Number(place) - 1] ?? owner), detail, isRepaired: repair };
  });
}

/** The name of a session in its list: what the last line of a member is. */
function nameIn(kind: MemberKind, member: string): string {
  return kind === 'by-entry' ? member.slice(member.lastIndexOf('\n') + 1) : member;
}

function parseIndexMember({ appName, userId }: StateOwner, kind: MemberKind, member: string): SessionKey {
  const name = nameIn(kind, member);
  if (userId !== undefined) return { appName, userId, sessionId: name };
  const [user = '', sessionId = ''] = name.split('\u0000');
  return { appName, userId: user, sessionId };
}

/** The owner of an index, by its key. */
export function parseOwnerFromKey(keys: RedisKeys, key: string): StateOwner | undefined {
  const [, app, user] = /^\{([^|}]*)(?:\|([^}]*))?\}:/.exec(keys.withoutPrefix(key)) ?? [];
  if (app === undefined) return undefined;
  const appName = decodeURIComponent(app);
  return user === undefined ? { appName } : { appName, userId: decodeURIComponent(user) };
}

/**
 * Finds members of an index without a record.
 *
 * KEYS 1 index, 2 expiring sessions of the same owner, then a record for each member.
 * ARGV 1 time, 2 whether to remove them (1 or 0), then alternating the member and the name of its session.
 * Returns the places of those members.
 */
export const AUDIT_MEMBERS = defineScript(
  'audit-members',
  TIME,
  String.raw`
local repair = ARGV[2] == '1'
local isHash = redis.call('TYPE', KEYS[1]).ok == 'hash'
local stale = {}
for place = 1, #KEYS - 2 do
  local member, name = ARGV[1 + 2 * place], ARGV[2 + 2 * place]
  local isThere = isHash and redis.call('HGET', KEYS[1], member) or not isHash and redis.call('ZSCORE', KEYS[1], member)
  if isThere and redis.call('EXISTS', KEYS[2 + place]) == 0 then
    local expires = tonumber(redis.call('ZSCORE', KEYS[2], name))
    if not expires or expires > now then
      stale[#stale + 1] = place
      if repair and isHash then redis.call('HDEL', KEYS[1], member) end
      if repair and not isHash then redis.call('ZREM', KEYS[1], member) end
    end
  end
end
return stale
`,
);
