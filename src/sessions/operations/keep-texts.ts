import type { AppendOutcome } from '../domain/stored/commit.js';
import type { SessionKey } from '../domain/values/ids.js';
import type { HashedText } from '../domain/event/model-request.js';
import type { SessionEnvironment } from '../session-environment.js';

/** Writes what the events name before they are appended, and returns what it wrote. An answer is worth more than its prompt, so a failure is only reported. */
export async function keepTexts(
  env: SessionEnvironment,
  key: SessionKey,
  texts: readonly HashedText[],
): Promise<readonly HashedText[]> {
  const unwritten = env.requestTexts.unwritten(key, texts);
  if (unwritten.length > 0) await reported(env, env.requestTexts.write(key, unwritten));
  return unwritten;
}

/** A session that is gone has no texts, and one that has come since has all of them. */
export async function settleTexts(
  env: SessionEnvironment,
  key: SessionKey,
  { texts, fresh }: { readonly texts: readonly HashedText[]; readonly fresh: readonly HashedText[] },
  outcome: AppendOutcome,
): Promise<void> {
  if (outcome.kind === 'appended') {
    const { incarnation } = outcome.record;
    await reported(env, env.requestTexts.settle(key, texts, fresh, incarnation));
  }
  if (outcome.kind === 'missing') await reported(env, removeTextsUnlessThere(env, key));
}

/** Removes what was written for a session that is gone. */
export async function removeTextsUnlessThere(
  { storage, requestTexts }: SessionEnvironment,
  key: SessionKey,
): Promise<void> {
  if (!(await storage.read({ key }))) await requestTexts.remove(key);
}

async function reported({ tasks }: SessionEnvironment, work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) => tasks.trackInBackground(Promise.reject(error)));
}
