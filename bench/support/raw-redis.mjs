import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';
import { OWNER } from './owner.mjs';

const DIGEST = 'x'.repeat(43);

/** The keys that an append of the package changes, and nothing read but the number of the last event. */
const APPEND = scriptOf(`
  local seq = redis.call('HINCRBY', KEYS[1], 'last', 1)
  local now, id, member = ARGV[1], ARGV[2], ARGV[3]
  redis.call('HSET', KEYS[1], 'tip', seq, 'water', now, 'updated', now, 'events', seq,
    seq, table.concat({ now, now, ARGV[4], id, ARGV[5] }, '\\n'), '=' .. id, seq)
  redis.call('ZADD', KEYS[2], seq, seq)
  redis.call('ZADD', KEYS[3], now, ARGV[6])
  redis.call('ZADD', KEYS[4], now, member)
  if KEYS[5] then
    redis.call('HSET', KEYS[5], 'raw', ARGV[7])
    redis.call('HSET', KEYS[6], 'raw', ARGV[7])
  end
  return seq`);

const READ_NEWEST = scriptOf(`
  local last, wanted = tonumber(redis.call('HGET', KEYS[1], 'last')), {}
  for seq = math.max(1, last - ARGV[1] + 1), last do wanted[#wanted + 1] = seq end
  return { redis.call('HMGET', KEYS[1], 'record', 'last'), redis.call('HGETALL', KEYS[2]), redis.call('HMGET', KEYS[1], unpack(wanted)) }`);

/**
 * The least that an append in Redis has to do on the keys of the package: one script that checks nothing.
 *
 * @implements {import('./server-sides.mjs').RawServer}
 */
export class RawRedis {
  /**
   * @param {string} url
   * @param {string} prefix
   */
  static async open(url, prefix) {
    const client = new Redis(url);
    for (const { text } of [APPEND, READ_NEWEST]) await client.script('LOAD', text);
    return new RawRedis(client, prefix);
  }

  constructor(client, prefix) {
    this.client = client;
    const { appName, userId } = OWNER;
    this.user = `${prefix}{${appName}|${userId}}:`;
    this.app = `${prefix}{${appName}}:`;
  }

  async find(sessionId) {
    const part = (name) => `${this.user}${name}:${sessionId}`;
    return {
      sessionId,
      member: `${OWNER.userId}\0${sessionId}`,
      read: [part('session'), part('state')],
      write: [part('session'), part('anchors'), `${this.user}by-update`, `${this.app}by-update`],
    };
  }

  append(session, event) {
    return this.#write(session.write, session, event);
  }

  appendShared(session, event) {
    return this.#write([...session.write, `${this.user}user-state`, `${this.app}app-state`], session, event);
  }

  async readNewest({ read }, count) {
    const [session, state, events] = await this.client.evalsha(READ_NEWEST.sha, read.length, ...read, count);
    const parsed = events.map((text) => JSON.parse(text.split('\n', 5)[4]));
    return { session, state, events: parsed };
  }

  async close() {
    await this.client.quit();
  }

  #write(keys, { member, sessionId }, event) {
    const args = [Date.now(), event.id, member, DIGEST, JSON.stringify(event), sessionId, JSON.stringify(event.id)];
    return this.client.evalsha(APPEND.sha, keys.length, ...keys, ...args);
  }
}

function scriptOf(text) {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}
