import { groupedBy } from '../groups.js';
import { inPortions } from '../portions.js';
import type { LogPosition, LogReference } from '../session-changes.js';
import type { RedisKeys } from './redis-keys.js';
import type { ScriptRunner } from './script-runner.js';
import { LOG_POSITIONS } from './scripts/log-positions.js';
import { pairsOf } from './session-replies.js';

/** So that no script holds up the server for long. */
const LOGS_A_SCRIPT = 500;

/** Where logs stand: a script for each portion, all at once; on a cluster one for each user at least, whose slot it is. */
export async function logPositions(
  scripts: ScriptRunner,
  keys: RedisKeys,
  logs: readonly LogReference[],
  isCluster: boolean,
): Promise<(LogPosition | undefined)[]> {
  const positions: (LogPosition | undefined)[] = logs.map(() => undefined);
  const placed = logs.map((log, place) => ({ ...log, place }));
  const slotOf = ({ key }: LogReference): string => keys.baseOfUser(key.appName, key.userId);
  const groups = isCluster ? [...groupedBy(placed, slotOf).values()] : [placed];
  const portions = groups.flatMap((group) => inPortions(group, { items: LOGS_A_SCRIPT }));
  await Promise.all(
    portions.map(async (portion) => {
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
