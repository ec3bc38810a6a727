import type { Cluster } from 'ioredis';
import { StoreUnavailableError } from '../../../domain/errors/errors.js';
import type { Script } from '../script/script.js';
import { isMoved, isUnknownScript } from './driver-errors.js';
import type { RedisClient, WaitReplicas } from './redis-options.js';

type AllArguments = readonly (string | number)[];

/** Runs a script by its SHA-1. Sends its text only if the server does not know it yet. */
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

/** Runs a script, then waits for replicas. */
export async function runAndReplicate(
  client: RedisClient,
  { sha, text }: Script,
  keyCount: number,
  args: AllArguments,
  replicas: WaitReplicas & { readonly areNeeded: (reply: unknown) => boolean },
): Promise<unknown> {
  let attempt = await callAndWait(client, ['evalsha', sha, keyCount, ...args], replicas);
  if (isMoved(attempt.error) && client.isCluster) {
    // ioredis follows MOVED only if every command of a pipeline is refused, and WAIT never is.
    await refreshSlots(client as Cluster);
    attempt = await callAndWait(client, ['evalsha', sha, keyCount, ...args], replicas);
  }
  if (isUnknownScript(attempt.error)) {
    attempt = await callAndWait(client, ['eval', text, keyCount, ...args], replicas);
  }
  const { error, reply, waitError, reached } = attempt;
  if (error) throw error;
  if (!replicas.areNeeded(reply)) return reply;
  if (waitError) throw waitError;
  if (reached < replicas.count) {
    throw new StoreUnavailableError(`The write reached ${reached} of ${replicas.count} replicas in time.`, true);
  }
  return reply;
}

interface ReplicatedReply {
  readonly error: Error | null | undefined;
  readonly reply: unknown;
  readonly waitError: Error | null | undefined;
  readonly reached: number;
}

/** One pipeline, because WAIT counts replicas of the writes of its own connection. */
async function callAndWait(
  client: RedisClient,
  [command, ...args]: readonly [string, ...(string | number)[]],
  { count, timeoutMs }: WaitReplicas,
): Promise<ReplicatedReply> {
  const results = await client.pipeline().call(command, args).wait(count, timeoutMs).exec();
  const [[error, reply] = [], [waitError, reached] = []] = results ?? [];
  return { error, reply, waitError, reached: Number(reached) };
}

/** Ignores a failed refresh: the next attempt is then refused like the first. */
function refreshSlots(cluster: Cluster): Promise<void> {
  return new Promise((resolve) => {
    cluster.refreshSlotsCache(() => resolve());
  });
}
