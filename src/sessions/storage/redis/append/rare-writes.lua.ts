import { ARGUMENTS } from '../script/base.lua.js';
import { SESSION_KEYS_BY_NAME } from '../script/session-keys.lua.js';
import { SESSION_ENTRIES, CHANGED_SESSIONS, END_PARTIALS, SESSION_ENDING } from '../script/session.lua.js';
import { SESSION_INDEXES, SESSION_REGISTRATION } from '../script/session.lua.js';
import { REGISTRY, SHARED_STATE } from '../script/shared-state.lua.js';
import { UPKEEP } from './upkeep.lua.js';

/** In one line, in this order. */
export const RARE_NUMBERS = [
  ...(['appBytes', 'userBytes', 'tag', 'expiry', 'expiryBefore', 'created', 'updatedAt'] as const),
  ...(['since', 'hasMetadata', 'ended', 'withUser', 'withApp', 'trimmed', 'checkpointAt', 'hasRepairs'] as const),
] as const;

/**
 * A part of WRITE_SESSIONS: what few writes have. It is in blocks of its own, because each run of a script creates its functions again.
 * Until `finish`, it only reads: each key to be written, so that none has a wrong type.
 */
export const RARE_WRITES = String.raw`
  ${ARGUMENTS}
  ${SESSION_KEYS_BY_NAME}
  position = following - 1
  APP_NAME, USER_ID, SESSION_ID = string.match(take(), '^([^\n]*)\n([^\n]*)\n(.*)$')
  local ${RARE_NUMBERS.join(', ')} = string.match(take(), '^${RARE_NUMBERS.map(() => '([^ ]*)').join(' ')}$')
  nameKeys(record, appBytes, userBytes, idBytes, tag)
  nameAllKeys()
  MEMBER_OF_APP = member
  expiry, expiryBefore = tonumber(expiry), tonumber(expiryBefore)
  local metadata, endedPartials = hasMetadata == '1' and take(), ended
  if ended ~= '-' and ended ~= 'all' then
    endedPartials = {}
    for index = 1, ended do endedPartials[index] = take() end
  end
  local trim, keepCheckpoint, repair
  if trimmed ~= '-' or checkpointAt ~= '-' or hasRepairs == '1' then
    ${UPKEEP}
  end
  local pending = take()
  ${SESSION_ENDING}

  local writeUser, writeApp, indexMetadata, renew, noteChanged
  local firstDue = NEVER
  if withUser == '1' or withApp == '1' then
    ${SHARED_STATE}
    -- The size of all, and of the keys that are written.
    local function sizesText(key, writes)
      local entries, sizes = readState(key), {}
      local values = {}
      for index = 1, #entries, 2 do values[entries[index]] = #entries[index] + #entries[index + 1] end
      for index = 1, #writes.sets, 2 do sizes[#sizes + 1] = text(values[writes.sets[index]] or 0) end
      for _, name in ipairs(writes.removals) do sizes[#sizes + 1] = text(values[name] or 0) end
      return text(bytesOfState(entries)) .. ' ' .. table.concat(sizes, ' ')
    end
    -- Nil if there may be no room.
    local function takeScope(key)
      local ttl, renewBelow, growth, most, counted = takeNumber(), takeNumber(), takeNumber(), takeNumber(), take()
      local writes = takeWrites()
      local stateExpiry, bytes = expiryOfState(key)
      if counted ~= '' then
        if sizesText(key, writes) ~= counted then return nil end
        bytes = tonumber(string.match(counted, '^%d+'))
      elseif growth > 0 and bytes + growth > most then
        bytes = bytesOfState(readState(key))
        if bytes + growth > most then return nil end
      end
      firstDue = math.min(firstDue, expiresAt(ttl))
      return function() return writeState(key, stateExpiry, bytes, writes, ttl, renewBelow) end
    end
    if withUser == '1' then writeUser = takeScope(USER_STATE) end
    if withApp == '1' and (writeUser or withUser ~= '1') then writeApp = takeScope(APP_STATE) end
    if (withUser == '1' and not writeUser) or (withApp == '1' and not writeApp) then return 'full' end
  end
  if math.min(expiry, expiryBefore, firstDue) < NEVER then
    ${REGISTRY}
    ${SESSION_INDEXES}
    ${SESSION_REGISTRATION}
    local changesIndexes = isExpiring(expiry, expiryBefore)
    if changesIndexes then countIndexes(true) end
    local registry = readRegistry(math.min(expiry, firstDue))
    renew = function(userDue, appDue)
      if changesIndexes then indexSession(tonumber(updatedAt), nil, expiry, expiryBefore) end
      register(registry, expiry, expiryBefore, userDue, appDue)
      expireSession(expiry, expiryBefore)
    end
  end
  if since ~= '-' or expiry ~= expiryBefore then
    ${CHANGED_SESSIONS}
    local isFirst = redis.call('ZCARD', CHANGED) == 0
    noteChanged = function()
      if since == '0' then redis.call('ZREM', CHANGED, CHANGED_MEMBER)
      elseif since == '-' then extendExpiry(CHANGED, expiry, false)
      else noteChange(since, expiry, isFirst) end
    end
  end
  if metadata then
    ${SESSION_ENTRIES}
    expectEntries()
    indexMetadata = function()
      redis.call('HSET', RECORD, 'metadata', metadata)
      indexEntries(SESSION_ID, tonumber(created), metadata)
    end
  end
  if ended ~= '-' then redis.call('ZCARD', PARTIALS) end
  if not APP_STATE then redis.call('HLEN', PENDING) end

  finish = function(seq)
    if trim then trim() end
    if keepCheckpoint then keepCheckpoint() end
    if repair then repair() end
    if ended ~= '-' then
      ${END_PARTIALS}
      endPartials(endedPartials)
    end
    if indexMetadata then indexMetadata() end
    local userDue = writeUser and writeUser()
    local appDue = writeApp and writeApp()
    if pending ~= '' then redis.call('HSET', PENDING, seq, pending) end
    if renew then renew(userDue, appDue) end
    if noteChanged then noteChanged() end
  end
`;
