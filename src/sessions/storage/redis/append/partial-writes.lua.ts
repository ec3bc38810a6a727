/** A part of WRITE_SESSIONS: saves partial events. Until `savePartials`, it only reads. */
export const SAVE_PARTIALS = String.raw`
  local partialsKey, first, last = base .. 'partials:' .. id, following + 1, following + 3 * partials
  redis.call('ZCARD', partialsKey)
  news, following = ARGV[following], last + 1
  savePartials = function()
    local size = redis.call('ZCARD', partialsKey)
    for place = first, last, 3 do
      local number = ARGV[place]
      if size > 0 then redis.call('ZREMRANGEBYSCORE', partialsKey, number, number) end
      redis.call('ZADD', partialsKey, number, ARGV[place + 2])
      extendExpiry(partialsKey, tonumber(ARGV[place + 1]), size == 0)
      size = size + 1
    end
  end
`;
