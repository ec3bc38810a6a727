import type { Locator } from 'playwright-core';
import { RunningApp } from '../app/running-app.js';
import { TestBrowser } from './test-browser.js';

describe('the pages of the app, in a browser,', () => {
  let app: RunningApp;
  let browser: TestBrowser;

  beforeAll(async () => {
    browser = await TestBrowser.start();
    app = await RunningApp.start({ SESSIONS_PROVIDER: 'memory' });
  });

  afterAll(async () => {
    await browser?.close();
    await app?.remove();
  });

  it('have docs whose operations work as they stand, without a file from elsewhere', async () => {
    const { page, problems } = await browser.open(`${app.url}/docs`);
    const sessions = '/apps/shop/users/ann/sessions';
    const first = await execute(page.locator('.opblock').first());
    expect(first).toEqual({ parameters: ['appName', 'userId'], url: `${app.url}${sessions}`, status: '201' });
    const create = await execute(page.locator('[id$=createSessionWithId]'));
    expect(create).toMatchObject({ url: `${app.url}${sessions}/order-7`, status: '201' });
    // A condition that was filled in would be 412.
    const append = await execute(page.locator('[id$=appendEvent]'));
    expect(append).toMatchObject({ url: `${app.url}${sessions}/order-7/events`, status: '201' });
    expect(problems).toEqual([]);
  });

  it('begin with one that leads to all others', async () => {
    const { page, problems } = await browser.open(app.url);
    const links = await page.getByRole('link').all();
    const paths = await Promise.all(links.map((link) => link.getAttribute('href')));
    expect(paths).toEqual([
      '/inspector',
      '/inspector',
      '/apps',
      '/adk/list-apps',
      '/docs',
      '/openapi.json',
      '/explorer',
      '/health',
    ]);
    await page.getByRole('link', { name: '/docs' }).click();
    await page.getByText('Creates a session', { exact: true }).waitFor();
    expect(problems).toEqual([]);
  });

  it('have an explorer that opens with a query that works, without a file from elsewhere', async () => {
    const sessions = `${app.url}/apps/shop/users/bob/sessions`;
    await fetch(`${sessions}/followed`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    const { page, problems } = await browser.open(`${app.url}/explorer`);
    const run = page.getByRole('button', { name: 'Execute query' });
    const result = page.locator('.result-window');
    await run.click();
    await result.getByText('"pageInfo"').waitFor();
    expect(await result.innerText()).not.toContain('"errors"');

    await page.getByRole('button', { name: 'Add tab' }).click();
    await page.locator('.graphiql-query-editor .CodeMirror').click();
    await page.keyboard.press('Control+a');
    const key = 'appName: "shop", userId: "bob", sessionId: "followed"';
    await page.keyboard.insertText(`subscription Follow { eventAppended(${key}, afterSeq: 0) { seq body } }`);
    // The tab is named once the page has understood what was typed.
    await page.getByRole('tab', { name: 'Follow' }).waitFor();
    await run.click();
    await page.getByRole('button', { name: 'Stop query' }).waitFor();
    await fetch(`${sessions}/followed/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ author: 'user', content: { role: 'user', parts: [{ text: 'Good morning' }] } }),
    });
    await result.getByText('Good morning').waitFor();
    expect(problems).toEqual([]);
  });
});

/** Opens an operation of Swagger UI, and executes it with what is filled in already. */
async function execute(operation: Locator): Promise<{ parameters: (string | null)[]; url: string; status: string }> {
  await operation.locator('.opblock-summary-control').first().click();
  const rows = await operation.locator('tr[data-param-name]').all();
  const parameters = await Promise.all(rows.map((row) => row.getAttribute('data-param-name')));
  await operation.getByRole('button', { name: 'Execute' }).click();
  const status = await operation.locator('.live-responses-table .response .response-col_status').innerText();
  const url = await operation.locator('.request-url pre').innerText();
  return { parameters, url: url.trim(), status: status.trim().split(/\s/)[0] ?? '' };
}
