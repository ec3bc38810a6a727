import { StoreUnavailableError } from '../../domain/errors.js';
import { isUnknownScript } from './driver-errors.js';
import type { RedisClient, WaitReplicas } from './redis-options.js';
import type { Script } from './scripts/script.js';

type AllArguments = readonly (string | number)[];

/** Runs a script by its name, and sends its text only to a server that does not know it yet. */
export async function runScript(
  client: RedisClient,
  { sha, text }: Script,
  keyCount: number,
  args: AllArguments,
): Promise<unknown> {
  try {
    return await client.evalsha(sha, keyCount, ...args);
  } catch (error) {
    if (!isUnknownScript(error)) throw error;
    return client.eval(text, keyCount, ...args);
  }
}

/** The same, and waits for replicas; in one pipeline, since WAIT is about what the same connection wrote before it. */
export async function runAndReplicate(
  client: RedisClient,
  { sha, text }: Script,
  keyCount: number,
  args: AllArguments,
  { count, timeoutMs }: WaitReplicas,
): Promise<unknown> {
  let results = await client
    .pipeline()
    .evalsha(sha, keyCount, ...args)
    .wait(count, timeoutMs)
    .exec();
  if (isUnknownScript(results?.[0]?.[0])) {
    results = await client
      .pipeline()
      .eval(text, keyCount, ...args)
      .wait(count, timeoutMs)
      .exec();
  }
  const [[error, reply] = [], [waitError, reached] = []] = results ?? [];
  if (error) throw error;
  if (waitError) throw waitError;
  if (Number(reached) < count) {
    throw new StoreUnavailableError(`The write reached ${Number(reached)} of ${count} replicas in time.`, true);
  }
  return reply;
}
