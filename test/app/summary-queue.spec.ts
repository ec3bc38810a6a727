import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { SessionService } from '../../src/index.js';
import { RedisSessionStorage } from '../../src/redis.js';
import { SummarizerSessionManager } from '../../src/summarizer/index.js';
import { compileExample } from '../support/compiled-examples.js';
import { ModelServer } from '../support/model-server.js';
import { keysUnder, newPrefix, redisUrl } from '../support/redis-store.js';
import { chosenStoreNames } from '../support/store-names.js';
import { until } from '../support/until.js';

interface Setup {
  readonly sessionIds?: readonly string[];
  readonly sweeps?: boolean;
  readonly options?: object;
}

const OPTIONS = { turns: 0, contentLength: 0, events: 6, keepRecentEvents: 2 };
const MANY = Array.from({ length: 20 }, (_, index) => `s-${index}`);
const describeWithRedis = chosenStoreNames().includes('redis') ? describe : describe.skip;

describeWithRedis('summaries that a queue takes to workers', () => {
  let model: ModelServer;
  let sessions: SessionService;
  let summaries: SummarizerSessionManager;
  let prefix: string;
  let running: ChildProcess[];

  beforeAll(() => compileExample('summary-queue'));

  beforeEach(() => {
    running = [];
    prefix = newPrefix();
    sessions = new SessionService({ storage: new RedisSessionStorage({ url: redisUrl, prefix }) });
    summaries = new SummarizerSessionManager({ sessions }, { autoSummarize: false });
  });

  afterEach(async () => {
    await Promise.all(running.map(kill));
    await summaries.close();
    await sessions.close();
    await model.stop();
    const redis = new Redis(redisUrl);
    await redis.unlink(await keysUnder(redis, prefix));
    await redis.quit();
  });

  function start(role: 'api' | 'worker', setup: Setup = {}): ChildProcess {
    const given = { role, url: redisUrl, prefix, modelUrl: model.url, options: OPTIONS, ...setup };
    const child = fork(join(__dirname, 'queue-process.mjs'), [JSON.stringify(given)], { execArgv: [] });
    running.push(child);
    return child;
  }

  async function append(sessionIds: readonly string[], setup: Setup = {}): Promise<void> {
    expect(await once(start('api', { ...setup, sessionIds }), 'exit')).toEqual([0, null]);
  }

  const writtenIn = async (sessionId: string): Promise<number> =>
    (await summaries.listSummaries({ appName: 'shop', userId: 'ann', sessionId })).length;

  it.each([
    ['two workers', false],
    ['two workers that sweep the agenda as well', true],
  ])('are written once each by %s', async (_title, sweeps) => {
    model = await ModelServer.start({ thinkMs: 20 });
    const workers = [start('worker', { sweeps }), start('worker', { sweeps })];
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    await append(MANY);
    await until(async () => (await Promise.all(MANY.map(writtenIn))).every((count) => count > 0));
    await until(async () => (await openJobs(prefix)) === 0);
    expect(await Promise.all(MANY.map(writtenIn))).toEqual(MANY.map(() => 1));
    expect(model.takeCalls()).toBe(MANY.length);
  });

  it('are written by another worker if one is killed in the middle', async () => {
    model = await ModelServer.start({ thinkMs: 2_000 });
    const killed = start('worker');
    await once(killed, 'message');
    await append(['one']);
    await until(() => model.takeCalls() > 0);
    await kill(killed);
    expect(await writtenIn('one')).toBe(0);
    start('worker');
    await until(async () => (await writtenIn('one')) > 0);
    await until(async () => (await openJobs(prefix)) === 0);
    expect(await writtenIn('one')).toBe(1);
    expect(model.takeCalls()).toBe(1);
  });

  it('are written as well if one event made them due, and later events do not', async () => {
    model = await ModelServer.start();
    const options = { ...OPTIONS, events: 0, importantLength: 9 };
    await append(['one'], { options });
    start('worker', { options });
    await until(async () => (await writtenIn('one')) > 0);
    expect(model.takeCalls()).toBe(1);
  });
});

async function openJobs(prefix: string): Promise<number> {
  const redis = new Redis(redisUrl);
  const counts = await Promise.all(['wait', 'active'].map((list) => redis.llen(`${prefix}:summaries:${list}`)));
  await redis.quit();
  return counts.reduce((sum, count) => sum + count, 0);
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
