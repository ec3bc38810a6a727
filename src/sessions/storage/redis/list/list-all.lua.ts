import { ENCODE_ID, TIME } from '../script/base.lua.js';
import { defineScript } from '../script/script.js';
import { RECORD_FIELDS, SHARED_STATE } from '../script/session.lua.js';
import { LISTED_SESSIONS } from './listed-sessions.lua.js';

/**
 * Reads a page of the sessions of a user or an app, with their state.
 *
 * KEYS, ARGV 1–8 and the reply: see LISTED_SESSIONS.
 * ARGV 9 offset, 10 with total (1 or 0).
 */
export const LIST_SESSIONS = defineScript(
  'list-sessions',
  TIME,
  ENCODE_ID,
  RECORD_FIELDS,
  SHARED_STATE,
  LISTED_SESSIONS,
  String.raw`
local offset = tonumber(ARGV[9])
local expired = redis.call('ZCOUNT', KEYS[3], '-inf', text(now))
local place = CURSOR_TIME == '' and 0 or placesBefore(CURSOR_TIME, CURSOR_MEMBER)
if expired == 0 then
  place = place + offset
  offset = 0
end
while #sessions < limit do
  local last = place + math.min(limit - #sessions + offset, 1000) - 1
  local members = redis.call(isBackwards and 'ZREVRANGE' or 'ZRANGE', SORTED, place, last)
  if #members == 0 then break end
  place = last + 1
  local expiries = expired > 0 and redis.call('ZMSCORE', KEYS[3], unpack(members)) or {}
  for index, member in ipairs(members) do
    local isLive = not expiries[index] or tonumber(expiries[index]) > now
    if isLive and offset > 0 then
      offset = offset - 1
    elseif isLive then
      addSession(member)
    end
  end
end

return reply(ARGV[10] == '1' and redis.call('ZCARD', SORTED) - expired)
`,
);
