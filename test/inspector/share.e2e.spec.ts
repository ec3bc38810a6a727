import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Locator, Page, Route } from 'playwright-core';
import { readCopy } from '../../inspector/src/copy/read-copy.js';
import { SessionsInspectorModule } from '../../src/inspector/index.js';
import { TestBrowser, type WatchedPage } from '../browser/test-browser.js';
import { RestApp } from '../rest/rest-app.js';
import { until } from '../support/until.js';
import { expectAccessible } from './accessible.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'first' };
const LONG = 2_500;
const LATER_PAGES = /\/events\?.*cursor=/;

let browser: TestBrowser;
let folder: string;
let app: RestApp;
beforeAll(async () => {
  browser = await TestBrowser.start();
  folder = await mkdtemp(join(tmpdir(), 'shared-'));
});
afterEach(() => app?.close());
afterAll(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

describe('a session that is shared as a file', () => {
  it('looks the same from disk, without a network, as in the app', async () => {
    await start();
    await fill();
    const original = await openSession();
    const { page } = original;
    await expectAccessible(page);
    const { path, name } = await shared(page);
    await page.getByText(`Saved as ${name}`).waitFor();
    expect(name).toBe('session-Ann-asks-for-a-refund.html');

    const copy = await openOffline(path);
    await copy.page.getByText('A copy of').waitFor();
    expect(await copy.page.title()).toContain('Ann asks for a refund');
    const last = (await app.sessions.listEvents(KEY)).lastSeq;
    await expectSame(page, copy.page, (each) => each.getByRole('region', { name: 'Events' }));
    for (let seq = last; seq >= 1; seq--) {
      for (const each of [page, copy.page]) await each.getByText(`After event ${seq}.`).waitFor();
      await expectSame(page, copy.page, beside);
      for (const each of [page, copy.page]) await each.keyboard.press('ArrowLeft');
    }
    for (const each of [page, copy.page]) {
      await each.getByRole('button', { name: 'step', exact: true }).first().click();
      await each
        .locator('.history')
        .getByRole('button', { name: `Event ${last}`, exact: true })
        .waitFor();
    }
    await expectSame(page, copy.page, (each) => each.locator('.history'));
    for (const each of [page, copy.page]) await each.getByRole('tab', { name: 'View' }).click();
    for (const format of ['openai', 'anthropic', 'google', 'ai-sdk']) {
      for (const each of [page, copy.page]) await each.getByLabel('As messages for').selectOption(format);
      await expectSame(page, copy.page, beside);
    }
    for (const each of [page, copy.page]) await each.getByRole('tab', { name: 'Charts' }).click();
    for (const chart of ['Tokens by turn', 'Time by turn']) {
      for (const each of [page, copy.page]) {
        await each.getByRole('region', { name: chart }).getByText('As a table').click();
      }
      await expectSame(page, copy.page, (each) => each.getByRole('region', { name: chart }));
    }
    for (const each of [page, copy.page]) {
      await each.getByLabel('Moment').fill('4');
      await each.getByRole('tab', { name: 'Event', exact: true }).click();
      await each.getByText('"functionCall"').waitFor();
    }
    await expectSame(page, copy.page, (each) => each.locator('.raw pre'));
    expect([...original.problems, ...copy.problems]).toEqual([]);
  });

  it('offers nothing that needs an app, and asks nobody', async () => {
    await start();
    await fill();
    const { page } = await openSession();
    const { path } = await shared(page);
    const { page: copy, problems, requests } = await openOffline(path);
    await copy.getByText('A copy of').waitFor();
    await copy.locator('tr.changed').first().waitFor();
    await expectAccessible(copy);
    for (const name of ['Share', 'Send', 'Delete', 'Rewind to here', 'Fork from here', 'Approve', 'Try again']) {
      expect(await copy.getByRole('button', { name }).count()).toBe(0);
    }
    expect(await copy.getByRole('region', { name: 'List of sessions' }).count()).toBe(0);
    expect(await copy.locator('input:not([type="range"]), a').count()).toBe(0);
    const theme = (): Promise<unknown> => copy.evaluate('document.documentElement.dataset.theme');
    await copy.getByRole('button', { name: 'Theme: auto' }).click();
    expect(await theme()).toBe('light');
    await copy.getByRole('button', { name: 'Theme: light' }).click();
    expect(await theme()).toBe('dark');
    expect(requests).toEqual([pathToFileURL(path).href]);
    expect(problems).toEqual([]);
    // Nor could it: its own policy forbids it.
    expect(await copy.evaluate(() => fetch('data:,x').catch(() => 'refused'))).toBe('refused');
    const markup = copy.evaluate(`document.body.innerHTML = '<b>markup</b>'`);
    await expect(markup).rejects.toThrow(/TrustedHTML/);
  });

  it('takes hostile texts for text', async () => {
    await start();
    const hostile =
      '</script><script>window.hacked=1</script><!--<script>\u2028\u2029<img src=x onerror="window.hacked=1">';
    const sessionId = `__proto__${hostile}`;
    const session = await app.sessions.createSession({ ...KEY, sessionId, metadata: { title: hostile } });
    const stateDelta = JSON.parse(`{"__proto__":"own value"}`) as Record<string, unknown>;
    const content = { role: 'user' as const, parts: [{ text: hostile }] };
    await app.sessions.appendEvent({ session, event: { author: hostile, content, actions: { stateDelta } } });
    const { page } = await openSession(sessionId);
    const { path } = await shared(page);
    const { page: copy, problems } = await openOffline(path);
    await copy.locator('.said', { hasText: 'window.hacked' }).waitFor();
    await copy.getByRole('button', { name: '__proto__', exact: true }).waitFor();
    expect(await copy.getByRole('heading', { level: 1 }).textContent()).toContain(hostile);
    expect(await copy.evaluate(() => 'hacked' in globalThis)).toBe(false);
    expect(await copy.locator('img').count()).toBe(0);
    expect(await copy.locator('script').count()).toBe(2);
    expect(problems).toEqual([]);
  });

  it('is made while one sees how far it is, and can give it up', async () => {
    await start();
    await fillLong();
    const { page, problems } = await openSession();
    const held: Route[] = [];
    await page.route(LATER_PAGES, (asked) => void held.push(asked));
    const downloads: string[] = [];
    page.on('download', (each) => downloads.push(each.suggestedFilename()));
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByText('read 1,000 of 2,500 events').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Share' }).waitFor();
    for (const asked of held) await asked.continue();
    await page.unroute(LATER_PAGES);
    const { path } = await shared(page);
    expect(downloads).toEqual(['session-first.html']);

    const copy = await openOffline(path);
    await copy.page.getByText(`message ${LONG}`, { exact: true }).waitFor();
    await copy.page.getByRole('region', { name: 'Events' }).evaluate((element) => element.scrollTo({ top: 0 }));
    await copy.page.getByText('message 1', { exact: true }).waitFor();
    expect([...problems, ...copy.problems]).toEqual([]);
  });

  it('says which events are not in it, if there were too many', async () => {
    await start();
    await fillLong();
    const { path } = await shared((await openSession()).page);
    const ended = new AbortController().signal;
    const { json } = await readCopy(app.sessions, KEY, { mostEvents: 300, signal: ended, onProgress: () => undefined });
    const html = await readFile(path, 'utf8');
    await writeFile(
      path,
      html.replace(/(?<=type="application\/json">)[^<]+/, () => json.join('')),
    );
    const { page: copy, problems } = await openOffline(path);
    await copy.getByText('the newest 300 of 2,500 events: what was before event 2201 is not in it').waitFor();
    await copy.getByRole('region', { name: 'Events' }).evaluate((element) => element.scrollTo({ top: 0 }));
    await copy.getByText('message 2201', { exact: true }).click();
    await copy.getByText('After event 2,201').or(copy.getByText('After event 2201.')).waitFor();
    await copy.locator('tr', { hasText: 'first' }).getByText('"kept"').waitFor();
    expect(problems).toEqual([]);
  });
});

async function start(): Promise<void> {
  const sessions = { limits: { maxBatchEvents: 1_000 } };
  const summarizer = { autoSummarize: false, keepRecentEvents: 2 };
  app = await RestApp.start('Express', { sessions, summarizer, imports: [SessionsInspectorModule.forRoot()] });
}

const said = (author: string, text: string) => ({ author, content: { role: author, parts: [{ text }] } });

/** Calls, state in all scopes, a rewind and a summary. */
async function fill(): Promise<void> {
  const metadata = { title: 'Ann asks for a refund', status: 'open', tags: ['vip'] };
  const session = await app.sessions.createSession({ ...KEY, metadata, state: { step: 0, 'app:currency': 'EUR' } });
  const order = { id: 'c1', name: 'find_order' };
  await app.sessions.appendEvents({
    session,
    events: [
      said('user', 'Hello'),
      { ...said('model', 'Hello Ann. What can I do for you?'), usageMetadata: { promptTokenCount: 9 } },
      {
        ...said('user', 'I want my money back for order 7.'),
        actions: { stateDelta: { step: 1, 'user:theme': 'dark' } },
      },
      { author: 'model', content: { role: 'model', parts: [{ functionCall: { ...order, args: { id: 7 } } }] } },
      {
        author: 'find_order',
        content: {
          role: 'user',
          parts: [{ functionResponse: { ...order, response: { total: '12.50', paid: true } } }],
        },
        actions: { stateDelta: { order: { id: 7, total: '12.50' }, 'app:orders_read': 1 } },
      },
      said('model', 'It was 12.50. Which card did you use?'),
      { ...said('user', 'Forget it.'), actions: { stateDelta: { step: 9 } } },
    ] as never,
  });
  await app.sessions.rewindSession({ ...KEY, toSeq: 6 });
  const go = async (text: string, step: number): Promise<void> => {
    const event = { ...said('user', text), actions: { stateDelta: { step }, stateRemovals: ['order'] } };
    await app.sessions.appendEvent({ session: (await app.sessions.getSession(KEY)) as never, event: event as never });
  };
  await go('The red one.', 2);
  await app.summaries.createSessionSummary({ session: (await app.sessions.getSession(KEY)) as never, force: true });
  await go('Thank you.', 3);
}

async function fillLong(): Promise<void> {
  const session = await app.sessions.createSession({ ...KEY, state: { first: 'kept' } });
  for (let first = 1; first <= LONG; first += 500) {
    const events = Array.from({ length: 500 }, (_, index) => ({
      author: 'user',
      content: { role: 'user' as const, parts: [{ text: `message ${first + index}` }] },
    }));
    await app.sessions.appendEvents({ session, events });
  }
}

async function openSession(sessionId = KEY.sessionId): Promise<WatchedPage> {
  const address = new URLSearchParams({ app: KEY.appName, userId: KEY.userId, sessionId });
  const opened = await browser.open(`${app.url}/inspector#${address.toString()}`);
  await opened.page.getByRole('button', { name: 'Share' }).waitFor();
  return opened;
}

/** Shares, and keeps the file. */
async function shared(page: Page): Promise<{ readonly path: string; readonly name: string }> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Share' }).click(),
  ]);
  const name = download.suggestedFilename();
  const path = join(await mkdtemp(join(folder, 'file-')), name);
  await download.saveAs(path);
  return { path, name };
}

/** The file in a browser without a network. */
async function openOffline(path: string): Promise<WatchedPage & { readonly requests: readonly string[] }> {
  const opened = await browser.open('about:blank');
  const requests: string[] = [];
  opened.page.on('request', (request) => requests.push(request.url()));
  await opened.page.context().setOffline(true);
  await opened.page.goto(pathToFileURL(path).href);
  return { ...opened, requests };
}

const beside = (page: Page): Locator => page.locator('#beside');

/** The same text in both, as soon as the slower one shows it. */
async function expectSame(one: Page, other: Page, part: (page: Page) => Locator): Promise<void> {
  const [mine, theirs] = [part(one), part(other)];
  await until(async () => (await mine.innerText()) === (await theirs.innerText()));
  expect(await mine.innerText()).not.toBe('');
}
