import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';

const SECONDS = 86_400;

const APPEND = scriptOf(`
  redis.call('RPUSH', KEYS[1], ARGV[1])
  redis.call('HSET', KEYS[2], unpack(ARGV, 3))
  redis.call('EXPIRE', KEYS[1], ARGV[2])
  redis.call('EXPIRE', KEYS[2], ARGV[2])`);

const CREATE = scriptOf(`
  redis.call('HSET', KEYS[1], 'step', '0')
  redis.call('EXPIRE', KEYS[1], ARGV[1])
  redis.call('ZADD', KEYS[2], ARGV[2], ARGV[3])`);

const READ = scriptOf(`return { redis.call('HGETALL', KEYS[2]), redis.call('LRANGE', KEYS[1], -ARGV[1], -1) }`);

const LIST = scriptOf(`
  local page = {}
  for index, id in ipairs(redis.call('ZREVRANGE', KEYS[1], 0, ARGV[1] - 1)) do
    page[index] = { id, redis.call('HGETALL', ARGV[2] .. id .. ':state') }
  end
  return page`);

/** One script with `RPUSH`, `HSET` and `EXPIRE`. @implements {import('../sides.mjs').Side} */
export class MinimumRedis {
  /**
   * @param {string} url
   * @param {string} prefix
   */
  static async open(url, prefix) {
    const client = new Redis(url);
    for (const { text } of [APPEND, CREATE, READ, LIST]) await client.script('LOAD', text);
    return new MinimumRedis(client, `${prefix}minimum:`);
  }

  constructor(client, prefix) {
    this.client = client;
    this.prefix = prefix;
  }

  async create(sessionId) {
    const [events, state] = [`${this.prefix}${sessionId}:events`, `${this.prefix}${sessionId}:state`];
    await this.client.evalsha(CREATE.sha, 2, state, `${this.prefix}index`, SECONDS, Date.now(), sessionId);
    return { events, state };
  }

  append({ events, state }, event) {
    const changes = Object.entries(event.actions.stateDelta).flatMap(([key, value]) => [key, JSON.stringify(value)]);
    return this.client.evalsha(APPEND.sha, 2, events, state, JSON.stringify(event), SECONDS, ...changes);
  }

  async fill(session, events) {
    await Promise.all(events.map((event) => this.append(session, event)));
  }

  readAll(session) {
    return this.readNewest(session, 1_000_000);
  }

  async readNewest({ events, state }, count) {
    const [values, texts] = await this.client.evalsha(READ.sha, 2, events, state, count);
    return { state: parsed(values), events: texts.map((text) => JSON.parse(text)) };
  }

  async list(count) {
    const page = await this.client.evalsha(LIST.sha, 1, `${this.prefix}index`, count, this.prefix);
    return page.map(([id, values]) => ({ id, state: parsed(values) }));
  }

  async close() {
    await this.client.quit();
  }
}

function parsed(values) {
  const entries = [];
  for (let index = 0; index < values.length; index += 2) entries.push([values[index], JSON.parse(values[index + 1])]);
  return Object.fromEntries(entries);
}

function scriptOf(text) {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}
