import { OpenAccess } from '../../src/sessions/rest/index.js';
import { SearchModule } from '../../src/search/index.js';
import { SearchRestModule } from '../../src/search/rest/index.js';
import { TestBrowser } from '../browser/test-browser.js';
import type { RestApp } from '../rest/rest-app.js';
import { expectAccessible } from './accessible.js';
import { SUPPORT, SUPPORT_KEY, startSupport, talk } from './support-app.js';

const SEARCH = {
  imports: [SearchModule.forRoot({ isGlobal: true }), SearchRestModule.forRoot({ access: OpenAccess })],
};

describe('search in the inspector', () => {
  let browser: TestBrowser;
  let app: RestApp;

  beforeAll(async () => {
    browser = await TestBrowser.start();
  });
  afterAll(() => browser?.close());
  afterEach(() => app?.close());

  /** Two sessions of ann, and one of bob with the same words. */
  async function start(options: Parameters<typeof startSupport>[0] = SEARCH, search = true): Promise<void> {
    const started = await startSupport(options, { actions: true, search });
    app = started.app;
    await app.sessions.createSession(SUPPORT_KEY);
    await talk(started.client, 'My parcel from Porto is late', 'Where is my order?');
    for (const owner of [
      { ...SUPPORT, sessionId: 'second' },
      { appName: 'support', userId: 'bob', sessionId: 'other' },
    ]) {
      const session = await app.sessions.createSession(owner);
      const content = { role: 'user', parts: [{ text: 'A parcel to Bergen' }] };
      await app.sessions.appendEvent({ session, event: { author: 'user', content } });
    }
  }

  it('finds what was said in all sessions of a user, and leads to the place', async () => {
    await start();
    const { page, problems } = await browser.open(`${app.url}/inspector#app=support`);
    await page.getByText('To search, choose a session, or filter by a user.').waitFor();
    await page.getByText('Filter', { exact: true }).click();
    await page.getByLabel('User').fill('ann');
    await page.getByLabel('User').press('Enter');
    await page.getByLabel('Search what was said with ann').fill('parcel');
    await page.getByLabel('Search what was said with ann').press('Enter');
    const found = page.getByRole('region', { name: 'Found events' });
    await found.getByRole('link', { name: /A parcel to Bergen/ }).waitFor();
    expect(await found.getByRole('heading').allTextContents()).toEqual(expect.arrayContaining(['first', 'second']));
    expect(await found.getByText('other').count()).toBe(0);
    await expectAccessible(page);

    await found.getByRole('link', { name: /^My parcel from Porto/ }).focus();
    await page.keyboard.press('Enter');
    await page.locator('.event[aria-pressed=true]', { hasText: 'My parcel from Porto is late' }).waitFor();
    // The address is all that another reader needs.
    const other = await browser.open(page.url());
    await other.page.getByRole('link', { name: /A parcel to Bergen/ }).waitFor();
    await other.page.locator('.event[aria-pressed=true]', { hasText: 'My parcel from Porto is late' }).waitFor();

    await page.getByRole('button', { name: 'All sessions' }).click();
    await page.getByRole('region', { name: 'List of sessions' }).waitFor();
    expect([...problems, ...other.problems]).toEqual([]);
  });

  it('says that nothing was found, and goes on with further pages', async () => {
    await start();
    const session = await app.sessions.createSession({ ...SUPPORT, sessionId: 'long' });
    for (let number = 1; number <= 25; number++) {
      const content = { role: 'user', parts: [{ text: `Crate ${number}` }] };
      await app.sessions.appendEvent({ session, event: { author: 'user', content } });
    }
    const { page } = await browser.open(`${app.url}/inspector#app=support&user=ann&search=crate`);
    const links = page.getByRole('region', { name: 'Found events' }).getByRole('link');
    await links.first().waitFor();
    expect(await links.count()).toBe(20);
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await links.nth(24).waitFor();
    await page.getByLabel('Search what was said with ann').fill('giraffe');
    await page.getByLabel('Search what was said with ann').press('Enter');
    await page.getByText('No event has these words').waitFor();
  });

  it('is hidden where the app has none, and says so where its routes are missing', async () => {
    await start({}, false);
    const shown = await browser.open(`${app.url}/inspector#app=support&userId=ann&sessionId=first&search=parcel`);
    await shown.page.getByRole('region', { name: 'List of sessions' }).waitFor();
    expect(await shown.page.getByRole('search').count()).toBe(0);
    await app.close();
    await start({}, true);
    const { page } = await browser.open(`${app.url}/inspector#app=support&userId=ann&sessionId=first&search=parcel`);
    await page.getByRole('region', { name: 'Found events' }).getByRole('alert').waitFor();
  });
});
