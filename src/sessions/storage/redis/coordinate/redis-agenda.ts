import {
  assertAgendaEntry,
  assertAgendaPut,
  assertDueLimit,
  LONGEST_DELAY_MS,
} from '../../../domain/coordination-rules.js';
import type { Agenda, AgendaEntry } from '../../coordination.js';
import type { RedisKeys } from '../redis-keys.js';
import { TIME } from '../script/base.lua.js';
import { pairsOf } from '../script/codec.js';
import { type ScriptRunner, defineScript } from '../script/script.js';

/** An agenda in one sorted set. Each call is one script and one round trip. */
export class RedisAgenda implements Agenda {
  constructor(
    private readonly scripts: ScriptRunner,
    private readonly keys: RedisKeys,
  ) {}

  async put(name: string, inMs: number): Promise<void> {
    assertAgendaPut(name, inMs);
    await this.scripts.write(PUT_ON_AGENDA, { keys: [this.keys.agenda], args: [name, inMs] });
  }

  async due(limit: number): Promise<AgendaEntry[]> {
    assertDueLimit(limit);
    const found = await this.scripts.read<string[]>(DUE_ENTRIES, { keys: [this.keys.agenda], args: [limit] });
    return pairsOf(found).map(([name, dueAt]) => ({ name, dueAt: Number(dueAt) }));
  }

  async remove(entry: AgendaEntry): Promise<void> {
    assertAgendaEntry(entry);
    const { name, dueAt } = entry;
    await this.scripts.write(REMOVE_FROM_AGENDA, { keys: [this.keys.agenda], args: [name, dueAt] });
  }
}

/**
 * Adds a name to the agenda. A name that is already there keeps the later of both times.
 *
 * The agenda expires when nothing was added for twice the longest delay. By then its last entry has been due for the
 * longest delay, and no worker needs it any more.
 *
 * KEYS 1 agenda.
 * ARGV 1 time, 2 name, 3 delay in ms.
 * Returns nothing.
 */
export const PUT_ON_AGENDA = defineScript(
  'put-on-agenda',
  TIME,
  String.raw`
local KEPT_MS = ${2 * LONGEST_DELAY_MS}
redis.call('ZADD', KEYS[1], 'GT', text(expiresAt(tonumber(ARGV[3]))), ARGV[2])
expireKeys({ KEYS[1] }, expiresAt(KEPT_MS))
`,
);

/**
 * Reads entries that are due, the oldest first.
 *
 * KEYS 1 agenda.
 * ARGV 1 time, 2 limit.
 * Returns alternating name and time due.
 */
export const DUE_ENTRIES = defineScript(
  'due-entries',
  TIME,
  String.raw`
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', text(math.floor(now)), 'WITHSCORES', 'LIMIT', 0, ARGV[2])
`,
);

/**
 * Removes an entry if its time is unchanged.
 *
 * KEYS 1 agenda.
 * ARGV 1 time, 2 name, 3 time due.
 * Returns nothing.
 */
export const REMOVE_FROM_AGENDA = defineScript(
  'remove-from-agenda',
  String.raw`
if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[2])) == tonumber(ARGV[3]) then redis.call('ZREM', KEYS[1], ARGV[2]) end
`,
);
