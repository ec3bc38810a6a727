import type { EventGroup, GroupedEvents, GroupedEventsRequest } from '../../rebuild.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { ARGUMENTS, TIME } from '../script/base.lua.js';
import { keyArguments } from '../script/codec.js';
import { EVENT_GROUPS, MAX_RUNS_BYTES } from '../script/event-groups.lua.js';
import { type ScriptRunner, defineScript } from '../script/script.js';
import { SESSION } from '../script/session.lua.js';

/** The groups as the hash of the session has them. */
export async function groupedEvents(
  scripts: ScriptRunner,
  app: AppScope,
  { key, groups }: GroupedEventsRequest,
): Promise<readonly GroupedEvents[] | undefined> {
  const reply = await scripts.read<string[] | null>(GROUPED_EVENTS, {
    keys: app.sessionKeys(key),
    args: [...keyArguments(key), ...groups],
  });
  return reply?.map((runs, index) => ({
    group: groups[index] ?? '',
    ranges: [...runs.matchAll(/(\d+)-(\d+)/g)].map(([, from, to]) => ({ from: Number(from), to: Number(to) })),
    isCut: runs.endsWith('*'),
  }));
}

/** The runs as appends would have written them. */
export function formatGroupRuns({ ranges }: EventGroup): string {
  let runs = '';
  for (const { from, to } of ranges) {
    if (runs.length > MAX_RUNS_BYTES) return `${runs}*`;
    runs += `${runs === '' ? '' : ','}${from}-${to}`;
  }
  return runs;
}

/**
 * Reads the runs of groups.
 *
 * KEYS and ARGV 1–4: see SESSION.
 * ARGV 5 and on: groups.
 * Returns the runs of each group, '' if it has none; nothing if there is no session.
 */
export const GROUPED_EVENTS = defineScript(
  'grouped-events',
  TIME,
  ARGUMENTS,
  SESSION,
  EVENT_GROUPS,
  String.raw`
if not liveRecord() then return false end
local found = {}
for group in take do found[#found + 1] = redis.call('HGET', RECORD, groupField(group)) or '' end
return found
`,
);
