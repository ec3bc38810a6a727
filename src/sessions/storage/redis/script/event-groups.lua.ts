/** Longer texts of runs are not continued, so that an append stays fast. */
export const MAX_RUNS_BYTES = 4_096;

/** The runs of a group. */
export const EVENT_RUNS = String.raw`
-- The runs with one more event, which is later than all of them.
local function runsWith(runs, seq)
  if not runs then return seq .. '-' .. seq end
  if string.sub(runs, -1) == '*' then return runs end
  local before = string.match(runs, '^.*,') or ''
  local from, to = string.match(string.sub(runs, #before + 1), '^(%d+)%-(%d+)$')
  if tonumber(to) == tonumber(seq) - 1 then return before .. from .. '-' .. seq end
  if #runs > ${MAX_RUNS_BYTES} then return runs .. '*' end
  return runs .. ',' .. seq .. '-' .. seq
end
`;

/**
 * Events by group: fields of the hash of ids, whose name begins with NUL, as no id does. A field has the runs of the events of
 * a group as text, like `3-5,9-9`. A text that ends with `*` lacks later runs. Needs SESSION.
 */
export const EVENT_GROUPS = String.raw`
local function groupField(group)
  return '\0' .. group
end
${EVENT_RUNS}

-- 0 if there is none, false if it is not known. Sessions of older versions lack the fields of older events.
local function findInGroup(group, isNext, from)
  if not redis.call('HGET', RECORD, 'grouped') then return false end
  local runs = redis.call('HGET', IDS, groupField(group)) or ''
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
