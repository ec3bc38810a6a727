import { type MetadataChange, METADATA_LIMITS } from '../../../domain/metadata-entries.js';
import type { ScriptArguments } from './codec.js';

/** Decoded by `takeMetadata`. A JSON text is never empty, so an empty one removes the entry. */
export function metadataArguments(changes: readonly MetadataChange[] = []): ScriptArguments {
  if (changes.length === 0) return [];
  return [changes.length, ...changes.flatMap(([name, value]) => [name, value ?? ''])];
}

/** The rule of `metadataAfter` in the domain. Metadata is the field `metadata` of the record; no field is none. */
export const METADATA = String.raw`
local MAX_OF_KIND = { tag = ${METADATA_LIMITS.tags}, label = ${METADATA_LIMITS.labels}, field = ${METADATA_LIMITS.fields}, reserved = ${METADATA_LIMITS.reserved}, handedOver = ${METADATA_LIMITS.reserved} }
local MAX_METADATA_BYTES = ${METADATA_LIMITS.bytes}

-- Alternating names and values. Nil if nothing changes: then the arguments end before.
local function takeMetadata()
  local count = takeNumber()
  if not count then return nil end
  local changes = {}
  for index = 1, 2 * count do changes[index] = take() end
  return changes
end

-- Nil if that is more than a session can have.
local function metadataAfter(before, changes)
  local names, values, counts, parts = {}, {}, {}, {}
  local bytes = { own = 0, reserved = 0, handedOver = 0 }
  local function set(name, value)
    if values[name] == nil then names[#names + 1] = name end
    values[name] = value
  end
  for name, value in string.gmatch(before or '', '([^\n]*)\n([^\n]*)\n') do set(name, value) end
  for index = 1, #changes, 2 do set(changes[index], changes[index + 1]) end
  for _, name in ipairs(names) do
    if values[name] ~= '' then
      local isReserved = string.find(name, '^label:agents:') or string.find(name, '^field:agents:')
      local reserved = string.find(name, '^field:agents:handedOver:') and 'handedOver' or 'reserved'
      local kind = isReserved and reserved or string.match(name, '^(%l+):')
      if kind then
        counts[kind] = (counts[kind] or 0) + 1
        if counts[kind] > MAX_OF_KIND[kind] then return nil end
      end
      local part = name .. '\n' .. values[name] .. '\n'
      local group = isReserved and reserved or 'own'
      bytes[group] = bytes[group] + #part
      parts[#parts + 1] = part
    end
  end
  if math.max(bytes.own, bytes.reserved, bytes.handedOver) > MAX_METADATA_BYTES then return nil end
  return table.concat(parts)
end
`;

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
