import type { TouchRequest } from '../session-storage.js';
import type { AppScope } from './app-scope.js';
import { afterWrite } from './driver-errors.js';
import { keyArguments, optional } from './script-arguments.js';
import type { ScriptRunner } from './script-runner.js';
import { TOUCH_SESSION } from './scripts/touch-session.js';
import type { FlatHash } from './session-replies.js';

export async function touchSession(
  connection: ScriptRunner,
  app: AppScope,
  { key, incarnation, renew }: TouchRequest,
): Promise<void> {
  const reply = await connection.write<[pending: FlatHash, seenAt: string, incarnation?: string]>(TOUCH_SESSION, {
    keys: app.sessionKeys(key),
    args: [
      ...keyArguments(key),
      incarnation,
      ...[renew.session, renew.user, renew.app].map((lifetime) => optional(lifetime?.ttlMs)),
    ],
  });
  const [pending, seenAt, found = ''] = reply;
  await afterWrite(async () => {
    await app.finish({ key, incarnation: found, pending, seenAt });
    if (renew.app) await app.touch(key.appName, renew.app);
  });
}
