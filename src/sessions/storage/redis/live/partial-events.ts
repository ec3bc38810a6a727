import { isExpired } from '../../../domain/expiry.js';
import {
  MAX_PARTIALS_PER_TURN,
  type PartialOutcome,
  type PartialWrite,
  type StoredPartial,
} from '../../../domain/partial-event.js';
import { groupBy, inBatches } from '../../../domain/batches.js';
import type { PartialsRequest, PartialStore, StoredPartials } from '../../partial-store.js';
import type { RedisKeys } from '../redis-keys.js';
import { TIME } from '../script/base.lua.js';
import { recordPattern } from '../script/codec.js';
import { type ScriptRunner, defineScript } from '../script/script.js';
import { RECORD_TEXT } from '../script/session.lua.js';

/** Keeps scripts short. */
const WRITES_PER_SCRIPT = { items: 50, weight: 500_000, weightOf: ({ content }: PartialWrite) => content.length };

const TURN_PATTERN = recordPattern('incarnation', 'expires', 'last', 'turnExpires', 'turnToken', 'turnNumber');

/** For each write: number, seq and expiry of the saved partial event, or '' three times. */
type SaveReply = readonly string[];

/** Partial events in a sorted set for each session. */
export class RedisPartials implements PartialStore {
  constructor(
    private readonly scripts: ScriptRunner,
    private readonly keys: RedisKeys,
    private readonly isCluster: boolean,
  ) {}

  /** One script for the writes of 50 sessions. On a cluster, for those of a user, because they are in one slot. */
  async save(writes: readonly PartialWrite[]): Promise<PartialOutcome[]> {
    const outcomes = new Map<PartialWrite, PartialOutcome>();
    const userOf = ({ key }: PartialWrite): string => this.keys.baseOfUser(key.appName, key.userId);
    const groups = this.isCluster ? [...groupBy(writes, userOf).values()] : [writes];
    const portions = groups.flatMap((group) => inBatches(group, WRITES_PER_SCRIPT));
    await Promise.all(
      portions.map(async (portion) => {
        const reply = await this.#save(portion);
        for (const [index, write] of portion.entries()) outcomes.set(write, outcomeOf(write, reply.slice(3 * index)));
      }),
    );
    return writes.map((write) => outcomes.get(write) ?? { kind: 'lost' });
  }

  async read({ key, incarnation, after }: PartialsRequest): Promise<StoredPartials | undefined> {
    const reply = await this.scripts.read<readonly [now: string, last: string, members: readonly string[]] | null>(
      READ_PARTIALS,
      { keys: [this.keys.recordOf(key), this.keys.partialsOf(key)], args: [incarnation, after] },
    );
    if (!reply) return undefined;
    const [now, last, members] = reply;
    const partials = members.map(partialOf).filter(({ expiresAt }) => !isExpired(expiresAt, Number(now)));
    return { lastSeq: Number(last), partials };
  }

  #save(writes: readonly PartialWrite[]): Promise<SaveReply> {
    return this.scripts.write(SAVE_PARTIALS, {
      keys: writes.flatMap(({ key }) => [this.keys.recordOf(key), this.keys.partialsOf(key)]),
      args: [
        this.isCluster ? 'SPUBLISH' : 'PUBLISH',
        ...writes.flatMap(({ incarnation, turnToken, index, ttlMs, messageId, content }) => [
          incarnation,
          turnToken,
          index,
          ttlMs,
          `${messageId}\n${content}`,
        ]),
      ],
    });
  }
}

function outcomeOf({ messageId, content }: PartialWrite, [number = '', seq, expiry]: SaveReply): PartialOutcome {
  if (number === '') return { kind: 'lost' };
  const partial = { number: Number(number), afterSeq: Number(seq), messageId, content, expiresAt: Number(expiry) };
  return { kind: 'saved', partial };
}

function partialOf(member: string): StoredPartial {
  const [number, seq, expiry, messageId = ''] = member.split('\n', 4);
  const content = member.slice([number, seq, expiry, messageId].join('\n').length + 1);
  return { number: Number(number), afterSeq: Number(seq), messageId, content, expiresAt: Number(expiry) };
}

/**
 * Saves partial events as `partialOutcome` decides. A member has one line each for number, seq, expiry and message, and then
 * the content.
 *
 * KEYS record and partial events of each session.
 * ARGV 1 time, 2 the command that publishes; for each session: incarnation, token, index, ttl, message and content.
 * Returns number, seq and expiry of each one, or '' three times.
 */
export const SAVE_PARTIALS = defineScript(
  'save-partials',
  TIME,
  RECORD_TEXT,
  String.raw`
local turns, sizes = {}, {}
for place = 1, #KEYS / 2 do
  local first = 5 * place - 2
  local incarnation, expires, last, ends, token, number =
    string.match(readRecord(KEYS[2 * place - 1]) or '', ${TURN_PATTERN})
  if incarnation == ARGV[first] and tonumber(expires) > now and token == ARGV[first + 1] and tonumber(ends) > now then
    turns[place] = { number = tonumber(number), last = last }
  end
  sizes[place] = redis.call('ZCARD', KEYS[2 * place])
end

local saved = {}
for place = 1, #KEYS / 2 do
  local turn, key, first = turns[place], KEYS[2 * place], 5 * place - 2
  local number, expiry = '', ''
  if turn then
    number = text(turn.number * ${MAX_PARTIALS_PER_TURN + 1} + ARGV[first + 2])
    expiry = expiresAt(tonumber(ARGV[first + 3]))
    if sizes[place] > 0 then redis.call('ZREMRANGEBYSCORE', key, number, number) end
    redis.call('ZADD', key, number, table.concat({ number, turn.last, text(expiry), ARGV[first + 4] }, '\n'))
    extendExpiry(key, expiry, sizes[place] == 0)
    redis.pcall(ARGV[2], KEYS[2 * place - 1], ARGV[first] .. ' ' .. turn.last .. ' ' .. number)
    expiry = text(expiry)
  end
  saved[3 * place - 2], saved[3 * place - 1], saved[3 * place] = number, turn and turn.last or '', expiry
end
return saved
`,
);

/**
 * Reads the partial events of a session.
 *
 * KEYS 1 record, 2 partial events.
 * ARGV 1 time, 2 incarnation, 3 the number after which to read.
 * Returns { now, last seq, members }, or nothing if there is no session.
 */
export const READ_PARTIALS = defineScript(
  'read-partials',
  TIME,
  RECORD_TEXT,
  String.raw`
local record = readRecord(KEYS[1]) or ''
local incarnation, expires, last = string.match(record, ${recordPattern('incarnation', 'expires', 'last')})
if incarnation ~= ARGV[2] or tonumber(expires) <= now then return false end
return { text(now), last, redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. ARGV[3], '+inf') }
`,
);
