import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { SessionsInspectorModule } from '../../src/inspector/index.js';
import { makeApiKey } from '../../src/sessions/auth/api-keys.js';
import { plant } from '../adapters/all/support/walk.js';
import { WalkApp } from '../adapters/all/support/walk-app.js';
import { OF_ANN, SECRET } from '../adapters/all/support/walk-requests.js';
import { Issuer } from '../auth/issuer.js';
import { TestBrowser } from '../browser/test-browser.js';
import { expectAccessible } from './accessible.js';

const SUPPORT = makeApiKey();
const OF_BOB = { appName: 'shop', userId: 'bob', sessionId: 'b' };
const JSON_TYPE = { 'content-type': 'application/json' };

const addressOf = ({ appName, userId, sessionId }: typeof OF_BOB): string =>
  `#app=${appName}&userId=${userId}&sessionId=${sessionId}`;

/** What a page of another origin tries: with cookies, and without asking the server before. */
interface Attempt {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly status: number;
}

describe('A reader of the inspector in Chromium', () => {
  let app: WalkApp;
  let issuer: Issuer;
  let browser: TestBrowser;
  /** Of other pages: another port is another origin, and the same site. */
  let others: Server;
  let page: Page;

  beforeAll(async () => {
    browser = await TestBrowser.start();
    issuer = await Issuer.start();
    const apiKeys = [{ name: 'desk', hash: SUPPORT.hash, preset: 'support' }] as const;
    const auth = { jwt: issuer.options, apiKeys };
    app = await WalkApp.start('Express', { imports: [SessionsInspectorModule.forRoot({ actions: true })] }, { auth });
    await plant(app);
    await plant(app, OF_BOB);
    others = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html', connection: 'close' }).end('<!doctype html><p>Win!</p>');
    }).listen(0, '127.0.0.1');
    await once(others, 'listening');
  });
  afterAll(async () => {
    await browser?.close();
    others?.close();
    await app?.close();
    await issuer?.close();
  });

  beforeEach(async () => ({ page } = await browser.open(`${app.url}/inspector${addressOf(OF_ANN)}`)));
  afterEach(() => page.context().close());

  const signIn = async (credential: string): Promise<void> => {
    await page
      .getByLabel(/Token or API key/)
      .first()
      .fill(credential);
    await page.getByRole('button', { name: 'Try again' }).first().click();
  };
  const signInAs = async (user: string): Promise<void> => signIn(await issuer.token(user));
  const secret = () => page.locator('.event').getByText(SECRET).first();
  const refusal = () => page.getByText('No access').first();
  const cookies = () => page.context().cookies();

  it('signs in by a token that no script sees, reads what it allows, and signs out', async () => {
    await refusal().waitFor();
    expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(0);
    await signInAs('ann');
    await secret().waitFor();
    expect(await cookies()).toMatchObject([
      { name: '__Host-agent-sessions', path: '/', secure: true, httpOnly: true, sameSite: 'Strict' },
    ]);
    expect(await page.evaluate('document.cookie + JSON.stringify(sessionStorage)')).toBe('{}');
    await expectAccessible(page);

    await page.goto(`${app.url}/inspector${addressOf(OF_BOB)}`);
    await page.getByText('Not found').or(refusal()).first().waitFor();
    expect(await page.content()).not.toContain(SECRET);

    await page.goto(`${app.url}/inspector${addressOf(OF_ANN)}`);
    await secret().waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await refusal().waitFor();
    expect(await page.content()).not.toContain(SECRET);
    expect(await cookies()).toEqual([]);
    await page.goBack();
    await page.goto(`${app.url}/inspector${addressOf(OF_ANN)}`);
    await refusal().waitFor();
    expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(0);
  });

  it('is told that a key is wrong, and is signed in by none', async () => {
    await refusal().waitFor();
    for (const wrong of [makeApiKey().key, 'x', await issuer.token('ann', { exp: 1_000 })]) {
      await signIn(wrong);
      await page.getByText('The app does not accept it.').waitFor();
      expect(await cookies()).toEqual([]);
      await page.reload();
      await refusal().waitFor();
    }
  });

  it('reads the sessions of all with a key of support, which ends with its sign-out', async () => {
    await refusal().waitFor();
    await signIn(SUPPORT.key);
    for (const place of [OF_ANN, OF_BOB]) {
      await page.goto(`${app.url}/inspector${addressOf(place)}`);
      await secret().waitFor();
    }
    await page.getByRole('button', { name: 'Sign out' }).click();
    await refusal().waitFor();
  });

  it('stays signed in, and unread, whatever pages of other origins send', async () => {
    await refusal().waitFor();
    await signInAs('ann');
    await secret().waitFor();
    const before = await app.everythingOf('ann');
    const { port } = others.address() as AddressInfo;
    const attempts: readonly Attempt[] = [
      { url: `${app.url}/inspector/sign-out`, method: 'POST', status: 403 },
      { url: `${app.url}/inspector/sign-in`, method: 'POST', status: 403 },
      { url: `${app.url}/apps/shop/users/ann/sessions/s`, method: 'GET', status: 401 },
      { url: `${app.url}/apps/shop/users/ann/sessions/s/rewind`, method: 'POST', status: 415 },
    ];
    for (const host of ['127.0.0.1', 'localhost']) {
      const other = await page.context().newPage();
      await other.goto(`http://${host}:${port}/`);
      for (const { url, method, status } of attempts) {
        const answered = other.waitForResponse(url);
        const options = JSON.stringify({ method, mode: 'no-cors', credentials: 'include' });
        await other.evaluate(`fetch(${JSON.stringify(url)}, ${options})`);
        expect([host, url, (await answered).status()]).toEqual([host, url, status]);
      }
      await other.close();
    }
    expect(await app.everythingOf('ann')).toBe(before);
    expect(await cookies()).toHaveLength(1);
    await page.reload();
    await secret().waitFor();
  });

  it('cannot be signed out by a request that the page would not send', async () => {
    for (const headers of [{ 'content-type': 'text/plain' }, { ...JSON_TYPE, origin: 'https://evil.example' }]) {
      const response = await fetch(`${app.url}/inspector/sign-out`, { method: 'POST', headers, body: '{}' });
      expect([response.status, response.headers.get('set-cookie')]).toEqual([403, null]);
    }
  });
});
