import type { TrimRequest } from '../session-storage.js';
import type { AppScope } from './app-scope.js';
import { keyArguments } from './script-arguments.js';
import type { ScriptRunner } from './script-runner.js';
import { TRIM_LOG } from './scripts/trim-log.js';

/** Forgets what events said; their ids stay, so that a late repetition is still recognised. */
export async function trimLog(
  connection: ScriptRunner,
  app: AppScope,
  { key, incarnation, firstSeq, marksSeq, newFirstSeq, baseState }: TrimRequest,
): Promise<void> {
  await connection.write(TRIM_LOG, {
    keys: app.sessionKeys(key),
    args: [...keyArguments(key), incarnation, firstSeq, marksSeq, newFirstSeq, baseState],
  });
}
