import { SessionsInspectorModule } from '../../src/inspector/index.js';
import { askApproval, plant } from '../adapters/all/support/walk.js';
import { CALLERS, OTHER_TEAM, OWNER, WalkApp } from '../adapters/all/support/walk-app.js';
import { SECRET } from '../adapters/all/support/walk-requests.js';
import { TestBrowser } from '../browser/test-browser.js';

const SESSIONS = ['state', 'view', 'charts', 'check'].map((tab) => `app=shop&userId=ann&sessionId=s&tab=${tab}`);
const LISTS = ['app=shop', 'app=shop&user=ann', 'app=shop&status=open'];
const STRANGERS = Object.entries({ ...CALLERS, 'another team': OTHER_TEAM });

describe('The inspector of an app with many users', () => {
  let app: WalkApp;
  let browser: TestBrowser;

  beforeAll(async () => {
    browser = await TestBrowser.start();
    app = await WalkApp.start('Express', { imports: [SessionsInspectorModule.forRoot({ actions: true })] });
    await plant(app);
    await askApproval(app, 's', OWNER);
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  /** All that a reader is shown and all that the page was sent, at these addresses. */
  async function readingOf(headers: Record<string, string>, hashes: readonly string[]): Promise<string> {
    const { page } = await browser.open(`${app.url}/inspector`, headers);
    const seen: Promise<string>[] = [];
    page.on('response', (response) => {
      if (response.ok() && response.headers()['content-type']?.includes('json')) {
        seen.push(response.text().catch(() => ''));
      }
    });
    for (const hash of hashes) {
      const asked = page.waitForResponse((response) => response.url().includes('/apps/shop'));
      await page.goto(`${app.url}/inspector#${hash}`);
      await asked;
      await page.locator('main .notice:not(.loading), main .event, nav .notice:not(.loading), nav a').first().waitFor();
      seen.push(Promise.resolve(await page.content()));
    }
    const all = await Promise.all(seen);
    await page.context().close();
    return all.join('\n');
  }

  it.each(STRANGERS)('shows nothing of another user: %s', async (_who, headers) => {
    expect(await readingOf(headers, [...SESSIONS, ...LISTS])).not.toContain(SECRET);
  });

  it('shows the owner what is theirs', async () => {
    expect(await readingOf(OWNER, ['app=shop&userId=ann&sessionId=s'])).toContain(SECRET);
    expect(await readingOf(OWNER, ['app=shop&user=ann'])).toContain('>s<');
  });
});
