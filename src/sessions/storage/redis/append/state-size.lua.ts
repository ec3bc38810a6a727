import { STATE_BYTES } from '../script/shared-state.lua.js';

/** In the rest: the bytes of state; and what is around them. Records of earlier versions lack the line. */
const PATTERN_OF_STATE_BYTES = String.raw`'^\n[^\n]*\n[^\n]*\n[^\n]*\n[^\n]*\n[^\n]*\n([^\n]*)'`;
const PATTERN_AROUND_STATE_BYTES = String.raw`'^(\n[^\n]*\n[^\n]*\n[^\n]*\n[^\n]*\n[^\n]*)\n?[^\n]*(.*)$'`;

/**
 * Parts of APPEND_COMMIT. Before the first write: the bytes of the session's state after the commit, at most. All is counted only if
 * the limit might be passed. Refuses the commit if it is.
 */
export const SIZE_AFTER_UPSERTS = String.raw`
  local stateBytes
  if upserts > 0 then
    stateBytes, stateMost = tonumber((string.match(rest, ${PATTERN_OF_STATE_BYTES}))), tonumber(stateMost)
    local added = 0
    for index = firstUpsert, firstRemoval - 1 do added = added + #ARGV[index] end
    if stateBytes and stateBytes + added <= (stateMost or math.huge) then
      stateBytes = stateBytes + added
    elseif stateMost then
      ${STATE_BYTES}
      local before = countState(STATE)
      stateBytes = before + added
      for index = firstUpsert, firstRemoval + removals - 1, 1 do
        local isName = index >= firstRemoval or (index - firstUpsert) % 2 == 0
        local length = isName and redis.call('HSTRLEN', STATE, ARGV[index]) or 0
        if length > 0 then stateBytes = stateBytes - #ARGV[index] - length end
      end
      if stateBytes > stateMost and stateBytes > before then return reply('stateFull', { 'session', text(stateBytes) }) end
    end
  end
`;

/** Puts the bytes into the rest of the record. */
export const NOTE_SIZE = String.raw`
  if stateBytes then
    local before, later = string.match(rest, ${PATTERN_AROUND_STATE_BYTES})
    rest = before .. '\n' .. text(stateBytes) .. later
  end
`;
