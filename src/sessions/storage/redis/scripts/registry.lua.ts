/**
 * The users of an app: sorted by when something of theirs may expire next, never too late. Needs TIME.
 *
 * Whoever clears away first claims a user with a time that is no whole number; whoever registers the user
 * meanwhile takes the claim away again, so that nobody is forgotten who comes back in between.
 */
export const REGISTRY = String.raw`
local function registerUser(users, userId, due, untilTime)
  local known = tonumber(redis.call('ZSCORE', users, userId))
  local isNew = not known and redis.call('EXISTS', users) == 0
  local wanted = math.min(due, known and math.floor(known) or due)
  if wanted ~= known then redis.call('ZADD', users, text(wanted), userId) end
  outlive(users, untilTime, isNew)
end

local function registerApp(apps, appName, untilTime)
  local isNew = redis.call('EXISTS', apps) == 0
  redis.call('ZADD', apps, 0, appName)
  outlive(apps, untilTime, isNew)
end
`;
