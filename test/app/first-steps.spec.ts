import { exec } from 'node:child_process';
import { promisify } from 'node:util';
import { LiveWatch } from '../graphql/live-watch.js';
import { commonApp } from './common-app.js';
import { RunningApp } from './running-app.js';

/** What a first-time user of the built app sees. */
describe('the running app', () => {
  it('prints all its URLs, and commands that stream an answer', async () => {
    const { printed } = await commonApp();
    for (const name of ['docs', 'explorer', 'health']) {
      const [, url = ''] = new RegExp(`^ {2}${name} +(http://\\S+)$`, 'm').exec(printed) ?? [];
      expect((await fetch(url)).status).toBe(200);
    }
    const [, graphql = ''] = /^ {2}GraphQL +(http:\S+)$/m.exec(printed) ?? [];
    const response = await fetch(`${graphql}?query={__typename}`, { headers: { 'apollo-require-preflight': 'yes' } });
    expect(await response.json()).toEqual({ data: { __typename: 'Query' } });
    const commands = (printed.match(/^ {2}curl .+$/gm) ?? []).join('\n');
    for (let time = 1; time <= 2; time++) {
      const { stdout } = await promisify(exec)(commands);
      const pieces = stdout.split('\n\n').filter((block) => block.includes('"partial":true'));
      expect(pieces.length).toBeGreaterThan(3);
      expect(stdout).toContain('"text":"I will remember your name, Ann, in all your sessions."');
    }
    const [, page = '', place = ''] = /^ {2}(http:\S+\/inspector)#(\S+)$/m.exec(printed) ?? [];
    expect((await fetch(page)).status).toBe(200);
    const { app = '', userId = '', sessionId = '' } = Object.fromEntries(new URLSearchParams(place));
    const events = new URL(`/apps/${app}/users/${userId}/sessions/${sessionId}/events`, page);
    const stored = (await (await fetch(events)).json()) as { events: { author: string }[] };
    expect(stored.events.filter(({ author }) => author === 'user')).toHaveLength(2);
  });

  it('prints how to create a session if it has no agent', async () => {
    const app = await RunningApp.start({ SESSIONS_PROVIDER: 'memory', DEMO_AGENT: 'false' });
    try {
      expect(app.printed).not.toContain('demo');
      const [command = ''] = /^ {2}curl .+$/m.exec(app.printed) ?? [];
      const { stdout } = await promisify(exec)(command);
      expect(JSON.parse(stdout)).toMatchObject({ appName: 'shop', userId: 'ann', state: { step: 1 } });
    } finally {
      await app.remove();
    }
  });

  it('logs requests, also over GraphQL and WebSockets', async () => {
    const app = await commonApp();
    const query = (document: string): Promise<Response> =>
      fetch(`${app.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: document }),
      });
    await query('mutation Open { createSession(appName: "shop", userId: "ann", sessionId: "s") { id } }');
    await fetch(`${app.url}/health`);
    const variables = { appName: 'shop', userId: 'ann', sessionId: 's', afterSeq: 0 };
    const live = new LiveWatch({ url: `${app.url.replace('http', 'ws')}/graphql`, variables });
    await query(
      'mutation Say { appendEvent(appName: "shop", userId: "ann", sessionId: "s", event: {author: "user"}) { duplicate } }',
    );
    await live.next();
    await live.return();
    await app.prints(/GET \/graphql 101 \d+ ms .+\n/);
    expect(app.printed).toMatch(/LOG \[Requests\] POST \/graphql Open 200 \d+ ms /);
    expect(app.printed).toMatch(/LOG \[Requests\] POST \/graphql Say 200 \d+ ms /);
    expect(app.printed).not.toMatch(/Requests\] GET \/health|Requests\] .*(shop|ann)/);
  });
});
