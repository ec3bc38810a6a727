import { METADATA_LIMITS, type MetadataChange } from '../../../domain/metadata-entries.js';
import type { ScriptArguments } from './codec.js';

/** Decoded by `takeMetadata`. A JSON text is never empty, so an empty one removes the entry. */
export function metadataArguments(changes: readonly MetadataChange[] = []): ScriptArguments {
  if (changes.length === 0) return [];
  return [changes.length, ...changes.flatMap(([name, value]) => [name, value ?? ''])];
}

/** The rule of `metadataAfter` in the domain. Metadata is the field `metadata` of the record; no field is none. */
export const METADATA = String.raw`
local MAX_OF_KIND = { tag = ${METADATA_LIMITS.tags}, label = ${METADATA_LIMITS.labels}, field = ${METADATA_LIMITS.fields} }
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
  local function set(name, value)
    if values[name] == nil then names[#names + 1] = name end
    values[name] = value
  end
  for name, value in string.gmatch(before or '', '([^\n]*)\n([^\n]*)\n') do set(name, value) end
  for index = 1, #changes, 2 do set(changes[index], changes[index + 1]) end
  for _, name in ipairs(names) do
    if values[name] ~= '' then
      local kind = string.match(name, '^(%l+):')
      if kind then
        counts[kind] = (counts[kind] or 0) + 1
        if counts[kind] > MAX_OF_KIND[kind] then return nil end
      end
      parts[#parts + 1] = name .. '\n' .. values[name] .. '\n'
    end
  end
  local after = table.concat(parts)
  return #after <= MAX_METADATA_BYTES and after or nil
end
`;
