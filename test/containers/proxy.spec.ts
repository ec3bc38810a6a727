import { randomUUID } from 'node:crypto';
import { SessionsClient } from '../../src/client/index.js';
import { SessionService } from '../../src/index.js';
import { RunningApp } from '../app/running-app.js';
import { LiveWatch } from '../graphql/live-watch.js';
import { startNginx } from '../servers/private-nginx.js';
import type { PrivateServer } from '../servers/private-server.js';
import { wholeLog } from '../support/processes/session-checks.js';
import { describeRedis } from '../support/redis-servers.js';
import { redisUrl } from '../support/redis-store.js';
import { until } from '../support/until.js';
import { appOf } from './compose-file.js';

const USER = { appName: 'shop', userId: 'ann' };
const WRITERS = 8;
const WRITES_BEFORE = 100;
const WRITES_AFTER = 100;

/** Two instances with the settings of `compose.yaml`, behind nginx with its settings there. */
describeRedis('the proxy of compose.yaml, with instances on $name', ['redis'], (bench) => {
  let apps: RunningApp[] = [];
  let proxy: PrivateServer | undefined;
  let client: SessionsClient;
  let url: string;

  beforeEach(async () => {
    const place = { SESSIONS_REDIS_URL: redisUrl, SESSIONS_REDIS_PREFIX: bench().prefix, PORT: '0' };
    const env = { ...appOf('redis').env, ...place };
    apps = await Promise.all([1, 2].map(() => RunningApp.start(env)));
    proxy = await startNginx(apps.map((app) => Number(new URL(app.url).port)));
    url = proxy.address;
    client = new SessionsClient({ url });
  });

  afterEach(async () => {
    await proxy?.stop();
    await Promise.all(apps.map((app) => app.remove()));
  });

  const newSession = async (): Promise<{ appName: string; userId: string; sessionId: string }> => {
    const { id: sessionId } = await client.createSession({ ...USER, sessionId: randomUUID() });
    return { ...USER, sessionId };
  };

  it('hands on an event of a stream at once, and the messages of a WebSocket', async () => {
    const key = await newSession();
    const stream = client.watch({ ...key, afterSeq: 0 })[Symbol.asyncIterator]();
    const live = new LiveWatch({ url: `${url.replace('http', 'ws')}/graphql`, variables: { ...key, afterSeq: 0 } });
    for (let seq = 1; seq <= 3; seq++) {
      await client.appendEvent({ ...key, event: { author: 'user' } });
      // The streams stay open: what is kept back would never come.
      expect((await stream.next()).value).toMatchObject({ seq });
      expect((await live.next()).value).toMatchObject({ seq });
    }
    await Promise.all([stream.return?.(), live.return()]);
  });

  it('lets a page of its own address write, and none of another', async () => {
    const statusFrom = async (origin: string): Promise<number> => {
      const headers = { origin, 'content-type': 'application/json' };
      return (await fetch(`${url}/apps/shop/users/ann/sessions`, { method: 'POST', headers })).status;
    };
    expect(await statusFrom(url)).toBe(201);
    expect(await statusFrom('http://127.0.0.1:1')).toBe(403);
  });

  it('loses and doubles nothing while an instance goes', async () => {
    const key = await newSession();
    const acknowledged: string[] = [];
    const enough = new AbortController();
    const write = async (): Promise<void> => {
      while (!enough.signal.aborted) {
        const id = randomUUID();
        await client.appendEvent({ ...key, event: { id, author: 'user' } });
        acknowledged.push(id);
      }
    };
    const writing = Promise.all(Array.from({ length: WRITERS }, write));
    await until(() => acknowledged.length > WRITES_BEFORE);
    const [oldest] = apps;
    oldest?.process.kill('SIGTERM');
    expect(await oldest?.ended()).toBe(0);
    const before = acknowledged.length;
    await until(() => acknowledged.length > before + WRITES_AFTER);
    enough.abort();
    await writing;
    const sessions = new SessionService({ storage: bench().storage() });
    const stored = await wholeLog(sessions, { ...USER, id: key.sessionId });
    expect(stored.map(({ id }) => id).toSorted()).toEqual(acknowledged.toSorted());
  });
});
