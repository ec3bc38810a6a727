/**
 * The keys and ids of a session.
 *
 * KEYS 1 record and events, 2 anchors, 3 state, 4 pending, 5 partial events, of the session;
 *      6 user state; 7 by update, 8 by creation, 9 expiring, 10 by entry: the sessions of the user; 11 their entries;
 *      12 changed sessions;
 *      on a single node also:
 *      13 app state; 14 by update, 15 by creation, 16 expiring, 17 by entry: the sessions of the app; 18 users of the app;
 *      19 apps.
 * ARGV 1 time, 2 session id, 3 user id, 4 app name.
 *
 * On a cluster the keys of the app are in another slot. The script stores writes to them in the pending hash of the
 * session, and another script applies them.
 */
export const SESSION_KEYS = String.raw`
local RECORD, ANCHORS, STATE, PENDING, PARTIALS = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local USER_STATE, BY_UPDATE, CHANGED = KEYS[6], KEYS[7], KEYS[12]
local APP_STATE, APP_BY_UPDATE, USERS, APPS = KEYS[13], KEYS[14], KEYS[18], KEYS[19]
local SESSION_ID, USER_ID, APP_NAME = ARGV[2], ARGV[3], ARGV[4]

-- No id contains NUL, and NUL sorts first, so the sessions of an app sort by user id, then by session id.
local MEMBER_OF_APP = USER_ID .. '\0' .. SESSION_ID
`;

/**
 * The same names for a script that gets only records as KEYS, one after the other. Ids without their encoding are the
 * caller's. `KEYS` is the table of all keys after `nameAllKeys`. Nothing else may use the KEYS of the script.
 */
export const SESSION_KEYS_BY_NAME = String.raw`
local RECORDS, KEYS = KEYS, nil
local RECORD, ANCHORS, STATE, PENDING, PARTIALS
local USER_STATE, BY_UPDATE, CHANGED
local APP_STATE, APP_BY_UPDATE, USERS, APPS
local SESSION_ID, USER_ID, APP_NAME, MEMBER_OF_APP
local keyPrefix, baseOfUser, baseOfApp, encodedId

-- The bytes of the encoded names; and the tag of the slot on a cluster, else '-'.
local function nameKeys(record, appBytes, userBytes, idBytes, tag)
  local bytes = #record
  RECORD, KEYS = record, nil
  keyPrefix = string.sub(record, 1, bytes - appBytes - userBytes - idBytes - 12)
  baseOfUser, encodedId = string.sub(record, 1, bytes - idBytes - 8), string.sub(record, -idBytes)
  STATE, BY_UPDATE = baseOfUser .. 'state:' .. encodedId, baseOfUser .. 'by-update'
  ANCHORS = baseOfUser .. 'anchors:' .. encodedId
  USER_STATE = baseOfUser .. 'user-state'
  CHANGED = keyPrefix .. '{' .. (tag == '-' and '@consumers' or tag) .. '}:changed'
  if tag == '-' then
    baseOfApp = string.sub(record, 1, #keyPrefix + appBytes + 1) .. '}:'
    APP_STATE, APP_BY_UPDATE = baseOfApp .. 'app-state', baseOfApp .. 'by-update'
  else
    APP_STATE, PENDING = nil, baseOfUser .. 'pending:' .. encodedId
  end
end

local function nameAllKeys()
  PENDING, PARTIALS = baseOfUser .. 'pending:' .. encodedId, baseOfUser .. 'partials:' .. encodedId
  KEYS = { RECORD, ANCHORS, STATE, PENDING, PARTIALS, USER_STATE, BY_UPDATE }
  for place, name in ipairs({ 'by-creation', 'expiring', 'by-entry', 'entries' }) do KEYS[7 + place] = baseOfUser .. name end
  KEYS[12] = CHANGED
  if not APP_STATE then return end
  USERS, APPS = baseOfApp .. 'users', keyPrefix .. 'apps'
  for place, name in ipairs({ 'app-state', 'by-update', 'by-creation', 'expiring', 'by-entry', 'users' }) do
    KEYS[12 + place] = baseOfApp .. name
  end
  KEYS[19] = APPS
end
`;
