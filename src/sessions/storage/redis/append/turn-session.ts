import type { TurnOutcome, TurnRequest } from '../../../domain/turn.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { ARGUMENTS, TIME } from '../script/base.lua.js';
import { keyArguments, turnOf } from '../script/codec.js';
import { type ScriptRunner, defineScript } from '../script/script.js';
import { SESSION } from '../script/session.lua.js';

type TurnReply = readonly [kind: TurnOutcome['kind'], turn?: string];

/** Begins, renews or ends the turn of a session in one script. */
export async function turnSession(scripts: ScriptRunner, app: AppScope, request: TurnRequest): Promise<TurnOutcome> {
  const { key, action, token } = request;
  const [kind, turn] = await scripts.write<TurnReply>(TURN_SESSION, {
    keys: app.sessionKeys(key),
    args: [
      ...keyArguments(key),
      action,
      token,
      action === 'end' ? 0 : request.ttlMs,
      ...(action === 'begin' ? [request.requestId, request.holder] : []),
    ],
  });
  return kind === 'changed' || kind === 'held' ? { kind, turn: turnOf(turn) } : { kind };
}

/**
 * Changes the turn of a session as `turnOutcome` decides, and nothing else.
 *
 * KEYS and ARGV 1–4: see SESSION.
 * ARGV 5 and on: begin, renew or end; token; ttl; to begin: request, holder.
 * Returns { kind }, and for 'changed' and 'held' the turn.
 */
export const TURN_SESSION = defineScript(
  'turn-session',
  TIME,
  ARGUMENTS,
  SESSION,
  String.raw`
local action, token, ttl, request, holder = take(), take(), takeNumber(), take(), take()
local record = liveRecord()
if not record then return { 'missing' } end
local turn = turnOf(record)

if action ~= 'begin' then
  if not isTurnHeld(turn, token) then return { 'lost' } end
elseif turn.expires <= now then
  turn = { token = token, number = turn.number + 1, request = request, holder = holder }
elseif turn.request ~= request or turn.holder ~= holder then
  return { 'held', turnText(turn, turn.expires) }
end

local changed = turnText(turn, action == 'end' and 0 or expiresAt(ttl))
redis.call('HSET', RECORD, 'turn', changed)
return { 'changed', changed }
`,
);
