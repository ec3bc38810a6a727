/** Takes arguments one after the other; those before the first one taken have a fixed place. */
export const ARGUMENTS = String.raw`
local position = 4

local function take()
  position = position + 1
  return ARGV[position]
end

local function takeNumber()
  return tonumber(take())
end

-- How many names and values follow, name and value in turn; how many names follow, and those.
local function takeWrites()
  local writes = { sets = {}, removals = {} }
  for index = 1, 2 * takeNumber() do writes.sets[index] = take() end
  for index = 1, takeNumber() do writes.removals[index] = take() end
  return writes
end
`;
