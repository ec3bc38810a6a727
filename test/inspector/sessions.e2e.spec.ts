import type { INestApplication } from '@nestjs/common';
import type { Page } from 'playwright-core';
import { clientAccess } from '../../src/sessions/rest/index.js';
import { SessionsInspectorModule } from '../../src/inspector/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { TestBrowser } from '../browser/test-browser.js';
import { RestApp } from '../rest/rest-app.js';
import { isEveryStoreWanted, rounds } from '../support/rounds.js';
import { testStores } from '../support/stores.js';
import { until } from '../support/until.js';
import { expectAccessible } from './accessible.js';
import { savedImage } from './saved-image.js';

const ANN = { appName: 'shop', userId: 'ann' };
const KEY = { ...ANN, sessionId: 'first' };
const AT = '#app=shop&userId=ann&sessionId=first';

/** Of the longest log. No multiple of what the page reads at once. */
const EVENTS = rounds(100_000) + 50;

const SESSIONS = 10_000;
const BATCH = 1_000;

const said = (author: string, text: string) => ({ author, content: { role: 'user' as const, parts: [{ text }] } });

/** Whether the last event of the timeline is drawn within it. */
async function isEndInSight(page: Page): Promise<boolean> {
  const [timeline, last] = await Promise.all([
    page.locator('.timeline').boundingBox(),
    page.locator('.timeline li').last().boundingBox(),
  ]);
  if (!timeline || !last) return false;
  return last.y + last.height <= timeline.y + timeline.height + 1;
}

let browser: TestBrowser;
beforeAll(async () => {
  browser = await TestBrowser.start();
});
afterAll(() => browser?.close());

const chosen = testStores.filter(({ name }) => isEveryStoreWanted || ['sqlite', 'redis', 'postgres'].includes(name));

describe.each(chosen)('the inspector over a $name store', ({ open }) => {
  let opened: OpenStorage;
  let apps: RestApp[];

  beforeEach(async () => {
    opened = await open({});
    const options = { agents: true, sessions: { provider: undefined, storage: opened.storage } as never };
    const start = () =>
      RestApp.start('Express', { ...options, imports: [SessionsInspectorModule.forRoot({ actions: true })] });
    // The first one closes the store in the end.
    apps = [await start(), await start()];
  });

  afterEach(async () => {
    for (const app of apps.toReversed()) await app.close();
    await opened.destroy();
  });

  it('shows a session as it goes on, in two tabs of two instances, and steps through its state', async () => {
    const [one, two] = apps as [RestApp, RestApp];
    const metadata = { title: 'Ann asks for a refund', status: 'open', tags: ['vip'] };
    await one.sessions.createSession({ ...KEY, metadata, state: { 'app:currency': 'EUR' } });
    const shown = await browser.open(`${one.url}/inspector`);
    const { page } = shown;
    await page.getByRole('link', { name: 'Ann asks for a refund' }).click();
    await page.getByText('No events yet').waitFor();
    const other = await browser.open(`${two.url}/inspector${AT}`);
    await say(page, 'hello');
    for (const each of [page, other.page]) await each.getByText('echo: hello').first().waitFor();

    await say(other.page, 'refund');
    await page.getByText('Refund?', { exact: true }).first().waitFor();
    await expectAccessible(page);
    await savedImage(page, 'inspector-approval');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('echo: refund').first().waitFor();
    await other.page.getByText('echo: refund').first().waitFor();
    await until(async () => (await page.getByRole('button', { name: 'Approve' }).count()) === 0);

    const session = await one.sessions.getSession(KEY);
    const event = { author: 'system', actions: { stateDelta: { step: 1, 'user:theme': 'dark' } } };
    const { seq } = await one.sessions.appendEvent({ session: session as never, event });
    await page.getByRole('button', { name: 'step', exact: true }).waitFor();
    await page.getByRole('heading', { level: 1 }).click();
    await page.keyboard.press('ArrowLeft');
    await page.getByText(`after event ${seq - 1}`).waitFor();
    await until(async () => (await page.getByRole('button', { name: 'step', exact: true }).count()) === 0);
    await page.keyboard.press('ArrowRight');
    await page.locator('tr.changed', { hasText: 'user:theme' }).waitFor();
    await page.getByRole('button', { name: 'user:theme', exact: true }).click();
    await page.getByRole('button', { name: `Event ${seq}`, exact: true }).waitFor();
    await savedImage(page, 'inspector-state');
    await page.getByRole('tab', { name: 'View' }).click();
    await page.getByText('events are given to a model now').waitFor();
    await expectAccessible(page);
    expect([...shown.problems, ...other.problems]).toEqual([]);
  });

  it('rewinds, forks and deletes where that is allowed', async () => {
    const [app] = apps as [RestApp];
    const session = await app.sessions.createSession(KEY);
    await app.sessions.appendEvents({ session, events: ['one', 'two', 'three'].map((text) => said('user', text)) });
    const { page, problems } = await browser.open(`${app.url}/inspector${AT}&seq=2`);
    page.on('dialog', (dialog) => void dialog.accept());
    await page.getByRole('button', { name: 'Rewind to here' }).click();
    await page.getByText('Back to the moment after event 2').waitFor();
    await until(async () => (await page.locator('.out-of-view').count()) > 0);
    expect((await app.sessions.getSession(KEY))?.events.map(({ seq }) => seq)).toEqual([1, 2]);

    await page.getByRole('button', { name: 'Fork from here' }).click();
    await until(async () => (await app.sessions.listSessions(ANN)).sessions.length === 2);
    await until(() => !page.url().includes('sessionId=first'));
    await page.locator('.event', { hasText: 'two' }).getByText('older than the session').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Choose a session on the left').waitFor();
    expect((await app.sessions.listSessions(ANN)).sessions.map(({ id }) => id)).toEqual(['first']);
    expect(problems).toEqual([]);
  });
});

describe('the inspector', () => {
  let app: RestApp;
  afterEach(() => app?.close());

  const start = async (options: Parameters<typeof RestApp.start>[1] = {}, actions = true): Promise<void> => {
    app = await RestApp.start('Express', {
      ...options,
      imports: [SessionsInspectorModule.forRoot({ actions, demoApp: 'shop' })],
    });
  };

  it('keeps the newest event in sight when the question of an approval takes its room', async () => {
    await start({ agents: true });
    const session = await app.sessions.createSession(KEY);
    for (let count = 0; count < 20; count++) {
      await app.sessions.appendEvent({ session, event: said('ann', `message ${count}`) });
    }
    const { page } = await browser.open(`${app.url}/inspector${AT}`);
    await page.getByText('message 19').waitFor();
    await say(page, 'refund');
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await until(() => isEndInSight(page));
  });

  it('greets those who have no sessions yet with an agent to talk to', async () => {
    await start({ agents: true });
    const { page, problems } = await browser.open(`${app.url}/inspector`);
    const heading = page.getByRole('heading', { name: 'No sessions yet' });
    await heading.waitFor();
    // It has the whole width, since there is no list beside it.
    expect((await page.locator('main').boundingBox())?.width).toBeGreaterThan(1_000);
    await expectAccessible(page);
    await savedImage(page, 'inspector-welcome');
    await page.getByRole('button', { name: 'Talk to the demo agent' }).click();
    await page.getByText('echo: My name is Ann').first().waitFor();
    expect(problems).toEqual([]);
  });

  it('takes what users and models said for text, whatever it is', async () => {
    await start();
    const hostile = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u202e\u2066';
    for (const sessionId of ['__proto__', 'constructor', hostile]) {
      const session = await app.sessions.createSession({ ...ANN, sessionId, metadata: { title: hostile } });
      await app.sessions.appendEvents({
        session,
        events: [
          {
            ...said('user', hostile),
            actions: { stateDelta: JSON.parse(`{"__proto__":"${'x'.repeat(9)}"}`) as object },
          },
          said(hostile, 'a'.repeat(900_000)),
        ] as never,
      });
      const address = new URLSearchParams({ app: 'shop', userId: 'ann', sessionId });
      const { page, problems } = await browser.open(`${app.url}/inspector#${address.toString()}`);
      await page.getByText('more characters').first().waitFor();
      await page.getByRole('button', { name: '__proto__', exact: true }).waitFor();
      expect(await page.evaluate(() => 'hacked' in globalThis)).toBe(false);
      expect(await page.locator('#inspector img, #inspector script').count()).toBe(0);
      expect(problems).toEqual([]);
    }
  });

  it(`draws only what can be seen of ${EVENTS} events and of ${SESSIONS} sessions`, async () => {
    await start({ sessions: { limits: { maxBatchEvents: 1_000 } } });
    const session = await app.sessions.createSession(KEY);
    for (let first = 1; first <= EVENTS; first += BATCH) {
      const length = Math.min(BATCH, EVENTS - first + 1);
      const events = Array.from({ length }, (_, index) => said('user', `message ${first + index}`));
      await app.sessions.appendEvents({ session, events });
    }
    for (let index = 0; index < SESSIONS; index++)
      await app.sessions.createSession({ ...ANN, sessionId: `s-${index}` });
    const { page, problems } = await browser.open(`${app.url}/inspector${AT}`);
    await page.getByText(`message ${EVENTS}`, { exact: true }).waitFor();
    const timeline = page.getByRole('region', { name: 'Events' });
    const scroll = (how: number) =>
      timeline.evaluate((element, part) => element.scrollTo({ top: element.scrollHeight * part }), how);
    await scroll(0);
    await page.getByText('message 1', { exact: true }).waitFor();
    await scroll(0.5);
    await page
      .getByText(new RegExp(`^message ${String(EVENTS / 2).slice(0, 2)}\\d{3}$`))
      .first()
      .waitFor();
    // Up from the end, past the events that came with the first page.
    await scroll(1);
    await page.getByText(`message ${EVENTS}`, { exact: true }).waitFor();
    for (let seq = EVENTS - 10; seq > EVENTS - 300; seq -= 10) {
      await timeline.evaluate((element) => element.scrollBy({ top: -400 }));
      await until(async () => (await page.locator('.event.loading').count()) === 0);
    }

    const list = page.getByRole('region', { name: 'List of sessions' });
    const oldest = list.getByText('first', { exact: true });
    await until(async () => {
      await list.evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
      return (await oldest.count()) === 1;
    });
    // The newest page is read again, and leaves the others where they are.
    for (let reads = 0; reads < 2; reads++) await page.waitForResponse(/\/sessions\?/);
    expect(await oldest.count()).toBe(1);
    expect(await page.locator('#inspector li').count()).toBeLessThan(150);
    expect(problems).toEqual([]);
  });

  it('shows each only what the rule of the app lets them see, and offers nothing unless it may', async () => {
    await start({ access: clientAccess({ userOf: userOf as never }) }, false);
    const session = await app.sessions.createSession(KEY);
    await app.sessions.appendEvent({ session, event: said('user', 'a secret of ann') });
    const { page } = await browser.open(`${app.url}/inspector${AT}&user=ann`);
    const signIn = async (token: string): Promise<void> => {
      await page.getByLabel(/Token/).first().fill(token);
      await page.getByRole('button', { name: 'Try again' }).first().click();
    };
    await page.getByText('No access').first().waitFor();
    expect(await page.content()).not.toContain('a secret');
    await signIn('bob');
    await page.getByText('Not found').first().waitFor();
    expect(await page.content()).not.toContain('a secret');
    await signIn('ann');
    await page.getByText('a secret of ann').first().waitFor();
    for (const name of ['Send', 'Delete', 'Rewind to here', 'Fork from here']) {
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    }
  });

  it('can be reloaded on Fastify as it is, below a prefix, at the address that it shows', async () => {
    app = await RestApp.start('Fastify', { imports: [SessionsInspectorModule.forRoot()], prepare: withPrefix });
    await app.sessions.createSession(KEY);
    const { page, problems } = await browser.open(`${app.url}/tools/v1/inspector`);
    await page.getByRole('link', { name: 'first' }).click();
    await page.getByText('No events yet').waitFor();
    expect(new URL(page.url()).pathname).toBe('/tools/v1/inspector');
    await page.reload();
    await page.getByText('No events yet').waitFor();
    expect(problems).toEqual([]);
  });

  it('says that the server is gone', async () => {
    await start();
    await app.sessions.createSession(KEY);
    const { page } = await browser.open(`${app.url}/inspector${AT}`);
    await page.getByText('No events yet').waitFor();
    await app.close();
    await page.getByText('reconnecting').waitFor();
    await page.getByText('The server does not answer').first().waitFor();
  });
});

function withPrefix(app: INestApplication): void {
  app.setGlobalPrefix('tools/v1');
}

/** The user is the token. */
function userOf(request: { headers: { authorization?: string } }): { id: string } | undefined {
  const [, id] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
  return id === undefined ? undefined : { id };
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message to the agent').fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}
