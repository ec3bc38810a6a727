/**
 * The index by entry of metadata: a sorted set whose members all have the score 0, so that Redis sorts them by their bytes.
 * A member has four lines: the two of an entry (`indexEntries` in the domain), the time of creation in 16 digits, and the
 * name of the session in its list. So all members of an entry are in the order of creation.
 *
 * The hash of entries has for each session the lines that it has there: the time of creation and its entries. The record
 * cannot tell, since Redis removes it when it expires.
 */
export const ENTRY_INDEX = String.raw`
local function memberOfEntry(entry, created, name)
  return entry .. '\n' .. string.format('%016.0f', created) .. '\n' .. name
end

-- The entries that lists can be filtered by, of the lines of a metadata text.
local function entriesIn(metadata)
  local entries, isThere = {}, {}
  for name, value in string.gmatch(metadata or '', '([^\n]*)\n([^\n]*)\n') do
    if name == 'status' or string.find(name, '^tag:') or string.find(name, '^label:') then
      local entry = name .. '\n' .. value
      entries[#entries + 1] = entry
      isThere[entry] = true
    end
  end
  return entries, isThere
end

-- indexes: for each its key, and what comes before the session id in its members. Without metadata it only removes.
local function replaceEntries(hash, indexes, sessionId, created, metadata)
  local stored = redis.call('HGET', hash, sessionId)
  local before, wasThere = {}, {}
  local createdBefore, lines = string.match(stored or '', '^(%d+)\n(.*)$')
  if lines then before, wasThere = entriesIn(lines) end
  createdBefore = tonumber(createdBefore)
  local after, isThere = entriesIn(metadata)
  local isSame = created == createdBefore
  for _, index in ipairs(indexes) do
    local name = index.prefix .. sessionId
    for _, entry in ipairs(before) do
      if not isSame or not isThere[entry] then redis.call('ZREM', index.key, memberOfEntry(entry, createdBefore, name)) end
    end
    for _, entry in ipairs(after) do
      if not isSame or not wasThere[entry] then redis.call('ZADD', index.key, 0, memberOfEntry(entry, created, name)) end
    end
  end
  if #after > 0 then
    redis.call('HSET', hash, sessionId, string.format('%.0f', created) .. '\n' .. table.concat(after, '\n') .. '\n')
  elseif stored then
    redis.call('HDEL', hash, sessionId)
  end
end
`;
