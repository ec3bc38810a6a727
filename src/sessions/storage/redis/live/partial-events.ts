import { isExpired } from '../../../domain/expiry.js';
import type { StoredPartial } from '../../../domain/partial-event.js';
import type { PartialsRequest, PartialStore, StoredPartials } from '../../partial-store.js';
import type { RedisKeys } from '../redis-keys.js';
import { TIME } from '../script/base.lua.js';
import { recordPattern } from '../script/codec.js';
import { type ScriptRunner, defineScript } from '../script/script.js';
import { RECORD_TEXT } from '../script/session.lua.js';

/** Partial events in a sorted set for each session. */
export class RedisPartials implements PartialStore {
  constructor(
    private readonly scripts: ScriptRunner,
    private readonly keys: RedisKeys,
  ) {}

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
}

/** One line each for number, seq, expiry and message, and then the content. */
export function memberOfPartial({ number, afterSeq, expiresAt, messageId, content }: StoredPartial): string {
  return [number, afterSeq, expiresAt, messageId, content].join('\n');
}

function partialOf(member: string): StoredPartial {
  const [number, seq, expiry, messageId = ''] = member.split('\n', 4);
  const content = member.slice([number, seq, expiry, messageId].join('\n').length + 1);
  return { number: Number(number), afterSeq: Number(seq), messageId, content, expiresAt: Number(expiry) };
}

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
