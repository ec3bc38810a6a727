import type { Cluster } from 'ioredis';
import { StoreUnavailableError } from '../../domain/errors.js';
import { isMoved, isUnknownScript } from './driver-errors.js';
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
    return await client.call('evalsha', [sha, keyCount, ...args]);
  } catch (error) {
    if (!isUnknownScript(error)) throw error;
    return client.call('eval', [text, keyCount, ...args]);
  }
}

/** The same, and waits for replicas. */
export async function runAndReplicate(
  client: RedisClient,
  { sha, text }: Script,
  keyCount: number,
  args: AllArguments,
  replicas: WaitReplicas,
): Promise<unknown> {
  let attempt = await replicated(client, ['evalsha', sha, keyCount, ...args], replicas);
  if (isMoved(attempt.error) && client.isCluster) {
    // The client follows by itself only where every command of a pipeline was refused, and WAIT never is.
    await refreshSlots(client as Cluster);
    attempt = await replicated(client, ['evalsha', sha, keyCount, ...args], replicas);
  }
  if (isUnknownScript(attempt.error)) {
    attempt = await replicated(client, ['eval', text, keyCount, ...args], replicas);
  }
  const { error, reply, waitError, reached } = attempt;
  if (error) throw error;
  if (waitError) throw waitError;
  if (reached < replicas.count) {
    throw new StoreUnavailableError(`The write reached ${reached} of ${replicas.count} replicas in time.`, true);
  }
  return reply;
}

interface Replicated {
  readonly error: Error | null | undefined;
  readonly reply: unknown;
  readonly waitError: Error | null | undefined;
  readonly reached: number;
}

/** In one pipeline, since WAIT is about what the same connection wrote before it. */
async function replicated(
  client: RedisClient,
  [command, ...args]: readonly [string, ...(string | number)[]],
  { count, timeoutMs }: WaitReplicas,
): Promise<Replicated> {
  const results = await client.pipeline().call(command, args).wait(count, timeoutMs).exec();
  const [[error, reply] = [], [waitError, reached] = []] = results ?? [];
  return { error, reply, waitError, reached: Number(reached) };
}

/** Where nobody tells, the next attempt is refused as the first one was. */
function refreshSlots(cluster: Cluster): Promise<void> {
  return new Promise((resolve) => {
    cluster.refreshSlotsCache(() => resolve());
  });
}
