import type { LogPosition, LogReference } from '../session-changes.js';
import type { RedisKeys } from './redis-keys.js';
import type { ScriptRunner } from './script-runner.js';
import { LOG_POSITIONS } from './scripts/log-positions.js';
import { pairsOf } from './session-replies.js';

/** So that no script holds up the server for long. */
const LOGS_A_SCRIPT = 500;

type Placed = LogReference & { readonly place: number };

/** Where logs stand: a script for each portion, all at once; on a cluster one for each user at least, whose slot it is. */
export async function logPositions(
  scripts: ScriptRunner,
  keys: RedisKeys,
  logs: readonly LogReference[],
  isCluster: boolean,
): Promise<(LogPosition | undefined)[]> {
  const positions: (LogPosition | undefined)[] = logs.map(() => undefined);
  const placed = logs.map((log, place) => ({ ...log, place }));
  const groups = isCluster ? byUser(keys, placed) : [placed];
  await Promise.all(
    groups.flatMap(inPortions).map(async (portion) => {
      const reply = await scripts.read<string[]>(LOG_POSITIONS, {
        keys: portion.map(({ key }) => keys.recordOf(key)),
        args: portion.map(({ incarnation }) => incarnation),
      });
      for (const [index, [lastSeq, livesForMs]] of pairsOf(reply).entries()) {
        const place = portion[index]?.place;
        if (place === undefined || lastSeq === '') continue;
        positions[place] = { lastSeq: Number(lastSeq), livesForMs: Number(livesForMs) };
      }
    }),
  );
  return positions;
}

function byUser(keys: RedisKeys, logs: readonly Placed[]): Placed[][] {
  const groups = new Map<string, Placed[]>();
  for (const log of logs) {
    const slot = keys.baseOfUser(log.key.appName, log.key.userId);
    const group = groups.get(slot);
    if (group) group.push(log);
    else groups.set(slot, [log]);
  }
  return [...groups.values()];
}

function inPortions(logs: readonly Placed[]): (readonly Placed[])[] {
  const count = Math.ceil(logs.length / LOGS_A_SCRIPT);
  return Array.from({ length: count }, (_, index) => logs.slice(index * LOGS_A_SCRIPT, (index + 1) * LOGS_A_SCRIPT));
}
