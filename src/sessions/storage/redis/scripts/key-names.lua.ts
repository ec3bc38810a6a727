/** Puts an id into a key, exactly as `encodeId` does. */
export const KEY_NAMES = String.raw`
local function encode(id)
  return (string.gsub(id, "[^A-Za-z0-9%-_%.!~'%(%)]", function(character)
    return string.format('%%%02X', string.byte(character))
  end))
end
`;
