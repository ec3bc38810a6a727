import type { TouchRequest } from '../../session-storage.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { afterWrite } from '../connect/driver-errors.js';
import { ARGUMENTS, TIME } from '../script/base.lua.js';
import { type FlatHash, keyArguments, optional } from '../script/codec.js';
import { type ScriptRunner, defineScript } from '../script/script.js';
import { REGISTRY, SESSION, SESSION_REGISTRATION, SHARED_STATE } from '../script/session.lua.js';

export async function touchSession(
  scripts: ScriptRunner,
  app: AppScope,
  { key, incarnation, renew }: TouchRequest,
): Promise<void> {
  const reply = await scripts.write<[pending: FlatHash, readAt: string, incarnation?: string]>(TOUCH_SESSION, {
    keys: app.sessionKeys(key),
    args: [
      ...keyArguments(key),
      incarnation,
      ...[renew.session, renew.user, renew.app].map((lifetime) => optional(lifetime?.ttlMs)),
    ],
  });
  const [pending, readAt, found = ''] = reply;
  await afterWrite(async () => {
    await app.applyPending({ key, incarnation: found, pending, readAt });
    if (renew.app) await app.touch(key.appName, renew.app);
  });
}

/**
 * Renews a session and its shared state, as far as they have not expired.
 *
 * KEYS and ARGV 1–4: see SESSION.
 * ARGV 5 and on: incarnation; ttl of the session, of user state and of app state ('' = not renewed).
 * Returns { pending, server time, incarnation or nothing }.
 */
export const TOUCH_SESSION = defineScript(
  'touch-session',
  TIME,
  ARGUMENTS,
  SHARED_STATE,
  REGISTRY,
  SESSION,
  SESSION_REGISTRATION,
  String.raw`
local incarnation, ttl, userTtl, appTtl = take(), takeNumber(), takeNumber(), takeNumber()
local record = liveRecord()
local userExpiry = userTtl and expiryOfState(USER_STATE)
local appExpiry = appTtl and APP_STATE and expiryOfState(APP_STATE)
if not APP_STATE then expectHashes(PENDING) end
if record and record.incarnation == incarnation and ttl then
  countIndexes(true)
  local expiry, registry = expiresAt(ttl), readRegistry()
  redis.call('HSET', RECORD, 'expires', text(expiry))
  indexSession(nil, nil, expiry, record.expires)
  register(registry, expiry, record.expires)
  expireSession(expiry, record.expires)
  if record.waiting > 0 then noteChange(record, expiry) end
end
if userExpiry then renewState(USER_STATE, expiresAt(userTtl)) end
if appExpiry then renewState(APP_STATE, expiresAt(appTtl)) end
return { pendingWrites(), text(serverTime), record and record.incarnation }
`,
);
