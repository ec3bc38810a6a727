import { groupBy, inBatches } from '../../../domain/batches.js';
import type { LogPosition, LogReference } from '../../session-changes.js';
import type { RedisKeys } from '../redis-keys.js';
import { TIME } from '../script/base.lua.js';
import { pairsOf, recordPattern } from '../script/codec.js';
import { type ScriptRunner, defineScript } from '../script/script.js';
import { RECORD_TEXT } from '../script/session.lua.js';

/** Keeps scripts short. */
const LOGS_PER_SCRIPT = 500;

/**
 * Reads the positions of many logs, 500 per script, all scripts in parallel. On a cluster each script reads the logs of one
 * user, because they are in one slot.
 */
export async function logPositions(
  scripts: ScriptRunner,
  keys: RedisKeys,
  logs: readonly LogReference[],
  isCluster: boolean,
): Promise<(LogPosition | undefined)[]> {
  const positions: (LogPosition | undefined)[] = logs.map(() => undefined);
  const indexed = logs.map((log, index) => ({ ...log, index }));
  const userOf = ({ key }: LogReference): string => keys.baseOfUser(key.appName, key.userId);
  const groups = isCluster ? [...groupBy(indexed, userOf).values()] : [indexed];
  const portions = groups.flatMap((group) => inBatches(group, { items: LOGS_PER_SCRIPT }));
  await Promise.all(
    portions.map(async (portion) => {
      const reply = await scripts.read<string[]>(LOG_POSITIONS, {
        keys: portion.map(({ key }) => keys.recordOf(key)),
        args: portion.map(({ incarnation }) => incarnation),
      });
      for (const [offset, [lastSeq, livesForMs]] of pairsOf(reply).entries()) {
        const index = portion[offset]?.index;
        if (index === undefined || lastSeq === '') continue;
        positions[index] = { lastSeq: Number(lastSeq), livesForMs: Number(livesForMs) };
      }
    }),
  );
  return positions;
}

/**
 * Reads the positions of logs.
 *
 * KEYS records of sessions; on a cluster, of one user.
 * ARGV 1 time, then the incarnation of each session.
 * Returns, for each session in turn, the last number and the remaining lifetime, or '' twice if the session is gone.
 */
export const LOG_POSITIONS = defineScript(
  'log-positions',
  TIME,
  RECORD_TEXT,
  String.raw`
local positions = {}
for index, key in ipairs(KEYS) do
  local record = readRecord(key) or ''
  local incarnation, expires, last = string.match(record, ${recordPattern('incarnation', 'expires', 'last')})
  local isLive = incarnation == ARGV[index + 1] and tonumber(expires) > now
  positions[2 * index - 1] = isLive and last or ''
  positions[2 * index] = isLive and text(tonumber(expires) - now) or ''
end
return positions
`,
);
