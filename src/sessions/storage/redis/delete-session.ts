import type { SessionKey } from '../../domain/ids.js';
import type { AppScope } from './app-scope.js';
import { afterWrite } from './driver-errors.js';
import { flag, keyArguments } from './script-arguments.js';
import type { NumberReply, ScriptRunner } from './script-runner.js';
import { DELETE_SESSION } from './scripts/delete-session.js';
import type { FlatHash } from './session-replies.js';

/** How often pending work may come between; after that the session goes first. */
const PATIENCE = 5;

/** Deletes a session; what is pending is finished before, so that nothing of it is lost with the session. */
export async function deleteSession(connection: ScriptRunner, app: AppScope, key: SessionKey): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const [deleted, wasLast, pending, seenAt, incarnation] = await connection.write<
      [deleted: NumberReply, wasLast: NumberReply, pending: FlatHash, seenAt: string, incarnation: string]
    >(DELETE_SESSION, {
      keys: app.sessionKeys(key),
      args: [...keyArguments(key), flag(attempt > PATIENCE)],
    });
    await afterWrite(async () => {
      await app.finish({ key, incarnation, pending, seenAt });
      if (Number(wasLast)) await app.forget(key);
    });
    if (Number(deleted)) return;
  }
}
