import type { Page } from 'playwright-core';
import type { SessionsClient } from '../../src/client/index.js';
import { OpenAccess } from '../../src/sessions/rest/index.js';
import { TestBrowser, type WatchedPage } from '../browser/test-browser.js';
import type { RestApp } from '../rest/rest-app.js';
import { until } from '../support/until.js';
import { expectAccessible } from './accessible.js';
import { savedImage } from './saved-image.js';
import { SUPPORT_KEY, startSupport, talk } from './support-app.js';

const AT = '#app=support&userId=ann&sessionId=first&tab=request';

/** Everybody may see instructions and tools. */
class OpenPrompts extends OpenAccess {
  override allowsPrompts(): boolean {
    return true;
  }
}

describe('the requests in the inspector', () => {
  let browser: TestBrowser;
  let app: RestApp;
  let client: SessionsClient;

  beforeAll(async () => {
    browser = await TestBrowser.start();
  });
  afterAll(() => browser?.close());
  afterEach(() => app?.close());

  async function opened(
    messages: readonly string[],
    options: Parameters<typeof startSupport>[0] = {},
    more = '',
  ): Promise<WatchedPage> {
    ({ app, client } = await startSupport(options));
    await app.sessions.createSession({ ...SUPPORT_KEY, metadata: { title: 'Where is my order?' } });
    await talk(client, ...messages);
    return browser.open(`${app.url}/inspector${AT}${more}`);
  }

  it('show what the model was given, what changed, and what a cache can know', async () => {
    const { page, problems } = await opened(['Hello', 'Where is my order?', 'Thank you'], { access: OpenPrompts });
    const { events } = await app.sessions.listEvents({ ...SUPPORT_KEY, modelRequests: true });
    const answers = events.map(({ seq }) => seq);
    const last = answers.at(-1) ?? 0;
    const report = await app.sessions.getModelRequest({ ...SUPPORT_KEY, seq: last });
    const given = report?.given.flatMap(([from, to]) =>
      Array.from({ length: to - from + 1 }, (_, index) => from + index),
    );
    await until(async () => (await texts(page, '.given-events .seq')).length > 0);
    expect(await texts(page, '.given-events .seq')).toEqual(given?.map(String));
    await page.locator('.given-events', { hasText: 'Where is my order?' }).waitFor();
    const figures = page.getByLabel('Figures of the request');
    expect(await figures.textContent()).toContain(report?.model);
    expect(await figures.textContent()).toContain(`Tokens in${report?.usage?.promptTokenCount}`);
    expect(await figures.textContent()).toContain(`Of them cached${report?.usage?.cachedContentTokenCount}`);
    expect(await figures.textContent()).toContain('Tokens out40');

    const changed = page.getByRole('region', { name: 'What changed' });
    expect(await changed.locator('dd').first().textContent()).toBe('the same');
    const stable = report?.change?.stableUntilSeq ?? 0;
    expect(stable).toBeGreaterThan(0);
    await changed.getByText(`up to event ${stable}, ${stable} of ${given?.length} events`).waitFor();
    for (const seq of [1, stable]) await row(page, seq).getByText('given as before').waitFor();
    await row(page, stable + 1)
      .getByText('given, new')
      .waitFor();
    await row(page, last).getByText('the answer').waitFor();

    await page.getByText('Instructions', { exact: true }).last().click();
    await page.getByRole('region', { name: 'Instructions' }).getByText('Be brief, and never guess.').waitFor();
    await page.getByText('Tools', { exact: true }).last().click();
    await page.getByRole('region', { name: 'Tools' }).getByText('Says where an order is.').waitFor();
    await expectAccessible(page);
    await savedImage(page, 'inspector-request');

    // A jump keeps the request that is looked at.
    await page.locator('.given-events button').first().click();
    await page.locator('.event[aria-pressed=true]', { hasText: 'Hello' }).waitFor();
    expect(await page.getByLabel('Request for the answer').inputValue()).toBe(String(last));
    await page.getByRole('button', { name: 'Theme: auto' }).click();
    await page.getByRole('button', { name: 'Theme: light' }).click();
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });

  it('compare with another request, follow the session, and say why events were left out', async () => {
    const { page, problems } = await opened(['Hello', 'Please answer in German', 'And now?'], {
      sessions: { history: { maxEvents: 3 } },
    });
    const { events } = await app.sessions.listEvents({ ...SUPPORT_KEY, modelRequests: true });
    const [first = 0] = events.map(({ seq }) => seq);
    const changed = page.getByRole('region', { name: 'What changed' });
    await until(async () => (await changed.locator('dd').first().textContent()) === 'changed');
    await changed.getByText('Where they changed, a cache of the vendor knows little').waitFor();
    await page.getByLabel('Compared with the request for').selectOption(String(first));
    await until(async () => (await changed.locator('dd').first().textContent()) === 'the same');
    // What decides now says nothing of that request.
    await app.sessions.append({
      session: { ...SUPPORT_KEY, id: SUPPORT_KEY.sessionId },
      event: { author: 'summarizer', actions: { compaction: { fromSeq: 1, toSeq: 2 } } },
    });
    await page.getByText('Not given, and why').click();
    await page.locator('.left-out li').first().waitFor();
    await page.getByText('The reasons are those of the view just before the answer.').waitFor();
    expect((await texts(page, '.left-out li')).join('\n')).toMatch(/over the limit of events|before the beginning/);
    await row(page, 1).getByText('not given').waitFor();

    await talk(client, 'One more');
    const grown = await app.sessions.listEvents({ ...SUPPORT_KEY, modelRequests: true });
    await until(async () => (await texts(page, 'select >> nth=0 >> option')).length >= grown.events.length);
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });

  it('say what the reader may not see, and that another answer is one', async () => {
    const { page, problems } = await opened(['Hello', 'Hello again']);
    await page.getByText('Instructions', { exact: true }).last().click();
    await page.getByText('The access rule of the app does not let you see them').first().waitFor();
    await page.getByLabel('Request for the answer').selectOption({ index: 1 });
    await page.getByText('There is no request before it.').waitFor();
    await page.getByRole('button', { name: 'Event after' }).click();
    await page.getByRole('button', { name: 'Event after' }).click();
    await page.getByRole('button', { name: 'Show its request' }).click();
    await page.getByText('Same beginning', { exact: true }).first().waitFor();
    expect(problems).toEqual([]);
  });

  it('say that no answer tells what its model was given, and what failed', async () => {
    const { page, problems } = await opened([]);
    await page.getByText('No answer says what its model was given').waitFor();
    expect(problems).toEqual([]);
    await talk(client, 'Hello');
    await page.getByLabel('Request for the answer').waitFor();
    await page.route('**/model-request?*', (route) => route.abort());
    await talk(client, 'Hello again');
    await page.getByLabel('Request for the answer').selectOption({ index: 1 });
    await until(async () => (await page.getByRole('alert').count()) > 0);
    await page.unroute('**/model-request?*');
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await page.getByText('There is no request before it.').waitFor();
  });

  it('are marked in the timeline for the next summary, too', async () => {
    const { page, problems } = await opened(
      ['Hello', 'Where is my order?'],
      { summarizer: { events: 3, autoSummarize: false, keepRecentEvents: 2 } },
      '',
    );
    await page.getByRole('tab', { name: 'View' }).click();
    await page.getByText('The next summary', { exact: true }).click();
    const outlook = await app.summaries.outlook(SUPPORT_KEY);
    const { fromSeq = 0, toSeq = 0 } = outlook.wouldCover ?? {};
    for (const seq of [fromSeq, toSeq]) await row(page, seq).getByText('for the next summary').waitFor();
    expect(
      await row(page, toSeq + 1)
        .getByText('for the next summary')
        .count(),
    ).toBe(0);
    expect(await page.locator('.event.cut').count()).toBe(1);
    await expectAccessible(page);
    await page.getByText('The next summary', { exact: true }).click();
    await until(async () => (await page.locator('.would-cover').count()) === 0);
    expect(problems).toEqual([]);
  });

  it.each(['https://traces.example.com/?session={sessionId}', 'https://traces.example.com/{appName}/{invocationId}'])(
    'link to traces by %s',
    async (traceUrl) => {
      ({ app, client } = await startSupport({}, { traceUrl }));
      await app.sessions.createSession(SUPPORT_KEY);
      await talk(client, 'Hello');
      const { events } = await app.sessions.listEvents(SUPPORT_KEY);
      const { page, problems } = await browser.open(`${app.url}/inspector${AT}`);
      const link = page.getByRole('link', { name: 'Traces' });
      const expected = traceUrl
        .replace('{sessionId}', SUPPORT_KEY.sessionId)
        .replace('{appName}', SUPPORT_KEY.appName)
        .replace('{invocationId}', events[0]?.invocationId ?? '');
      await link.waitFor();
      expect(await link.getAttribute('href')).toBe(expected);
      await expectAccessible(page);
      expect(problems).toEqual([]);
    },
  );

  it('fit on a narrow screen', async () => {
    const { page } = await opened(['Hello', 'Where is my order?']);
    await page.setViewportSize({ width: 360, height: 800 });
    await page.locator('.given-events .seq').first().waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    await expectAccessible(page);
  });
});

function row(page: Page, seq: number) {
  return page.locator('.timeline .event', { has: page.locator(`.seq:text-is("${seq}")`) });
}

function texts(page: Page, selector: string): Promise<string[]> {
  return page.locator(selector).allTextContents();
}
