import { type Browser, type Page, chromium } from 'playwright-core';
import { findChromium } from './chromium.js';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Less than the time limit of a test, and so long that a busy machine does not reach it. */
const TIME_LIMIT_MS = 90_000;

/** A page, and what it did that a page of this app should not do. */
export interface WatchedPage {
  readonly page: Page;
  /** Requests to other origins, errors of scripts, messages of the content security policy. */
  readonly problems: readonly string[];
}

/** A headless Chromium with an empty profile. */
export class TestBrowser {
  private constructor(private readonly browser: Browser) {}

  static async start(): Promise<TestBrowser> {
    return new TestBrowser(await chromium.launch({ executablePath: await findChromium(), args: FLAGS }));
  }

  /**
   * Opens a page in a context of its own: nothing is cached or remembered.
   *
   * @param headers of each request, as a proxy that signs users in adds them
   */
  async open(url: string, headers: Record<string, string> = {}): Promise<WatchedPage> {
    const context = await this.browser.newContext({ extraHTTPHeaders: headers });
    const page = await context.newPage();
    page.setDefaultTimeout(TIME_LIMIT_MS);
    const problems: string[] = [];
    const { host } = new URL(url);
    const watch = (asked: string): void => {
      if (!/^(data|blob):/.test(asked) && new URL(asked).host !== host) problems.push(`request to ${asked}`);
    };
    page.on('request', (request) => watch(request.url()));
    page.on('websocket', (socket) => watch(socket.url()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    await page.goto(url);
    return { page, problems };
  }

  async close(): Promise<void> {
    await this.browser.close();
  }
}
