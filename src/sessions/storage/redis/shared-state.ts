import type { Lifetime } from '../../domain/expiry.js';
import type { StateEntries, WriteStateRequest } from '../session-storage.js';
import type { AppScope } from './app-scope.js';
import { afterWrite } from './driver-errors.js';
import type { RedisKeys } from './redis-keys.js';
import { flag, lifetimeArguments, optional, writeArguments } from './script-arguments.js';
import type { ScriptRunner } from './script-runner.js';
import { READ_STATE, WRITE_STATE } from './scripts/shared-state-scripts.js';
import { type FlatHash, type SharedState, sharedStateOf } from './session-replies.js';

/** Reads shared state and, given a lifetime, keeps it alive where that is due. */
export async function readSharedState(
  connection: ScriptRunner,
  stateKey: string,
  { renew, withEntries = true }: { renew?: Lifetime | undefined; withEntries?: boolean } = {},
): Promise<SharedState & { now: number }> {
  const call = { keys: [stateKey], args: [...lifetimeArguments(renew), flag(withEntries)] };
  const run = renew ? connection.write.bind(connection) : connection.read.bind(connection);
  const [now, state] = await run<readonly [now: string, state: FlatHash]>(READ_STATE, call);
  return { ...sharedStateOf(state), now: Number(now) };
}

export async function writeSharedState(
  connection: ScriptRunner,
  keys: RedisKeys,
  app: AppScope,
  { owner, upserts, removals, lifetime }: WriteStateRequest,
): Promise<StateEntries> {
  const { appName, userId } = owner;
  const [state, due] = await connection.write<readonly [state: FlatHash, due: string | null]>(WRITE_STATE, {
    keys: [keys.stateOf(owner), ...app.registryKeys(appName)],
    args: [optional(userId), appName, '', ...lifetimeArguments(lifetime), ...writeArguments({ upserts, removals })],
  });
  if (due !== null) await afterWrite(() => app.register(owner, Number(due)));
  return sharedStateOf(state).entries;
}
