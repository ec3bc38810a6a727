/** Longer texts of runs are not continued, so that an append stays fast. */
export const MAX_RUNS_BYTES = 4_096;

/**
 * Events by group: fields of the hash of a session, whose name begins with NUL. A field has the runs of the events of
 * a group as text, like `3-5,9-9`. A text that ends with `*` lacks later runs.
 */
export const EVENT_RUNS = String.raw`
-- The runs with other ones, which are later than all of them.
local function runsPlus(runs, added)
  if not runs then return added end
  if string.sub(runs, -1) == '*' then return runs end
  local before, last = string.match(runs, '^(.*%-)(%d+)$')
  local first, rest = string.match(added, '^(%d+)%-(.*)$')
  if tonumber(last) == tonumber(first) - 1 then return before .. rest end
  if #runs > ${MAX_RUNS_BYTES} then return runs .. '*' end
  return runs .. ',' .. added
end
`;

/** Finds events by group. Needs SESSION. */
export const EVENT_GROUPS =
  EVENT_RUNS +
  String.raw`
local function groupField(group)
  return '\0' .. group
end

-- 0 if there is none, false if it is not known.
local function findInGroup(group, isNext, from)
  local runs = redis.call('HGET', RECORD, groupField(group)) or ''
  local isWhole = string.sub(runs, -1) ~= '*'
  local found = 0
  for first, last in string.gmatch(runs, '(%d+)%-(%d+)') do
    first, last = tonumber(first), tonumber(last)
    if isNext and last >= from then return math.max(first, from) end
    if not isNext and first <= from then found = math.min(last, from) end
  end
  return isWhole and found
end
`;
