import { SessionsInspectorModule } from '../../src/inspector/index.js';
import { TestBrowser, type WatchedPage } from '../browser/test-browser.js';
import { RestApp } from '../rest/rest-app.js';
import { expectAccessible } from './accessible.js';
import { savedImage } from './saved-image.js';

const ANN = { appName: 'shop', userId: 'ann' };
const KEY = { ...ANN, sessionId: 'first' };
const AT = '#app=shop&userId=ann&sessionId=first';
const MONTH_MS = 30 * 24 * 3_600_000;

const text = (author: string, said: string) => ({
  author,
  content: { role: author === 'user' ? 'user' : 'model', parts: [{ text: said }] },
});
const call = (id: string) => ({
  author: 'agent',
  content: { role: 'model', parts: [{ functionCall: { id, name: 'refund', args: { order: 7 } } }] },
});
const answer = (id: string) => ({
  author: 'agent',
  content: { role: 'user', parts: [{ functionResponse: { id, name: 'refund', response: { ok: true } } }] },
});

describe('beside the timeline of the inspector', () => {
  let browser: TestBrowser;
  let app: RestApp;

  beforeAll(async () => {
    browser = await TestBrowser.start();
  });
  afterAll(() => browser?.close());

  beforeEach(async () => {
    app = await RestApp.start('Express', { imports: [SessionsInspectorModule.forRoot({ actions: true })] });
  });
  afterEach(() => app?.close());

  async function opened(events: readonly object[], more = ''): Promise<WatchedPage> {
    const session = await app.sessions.createSession(KEY);
    for (const event of events) await app.sessions.append({ session, event });
    return browser.open(`${app.url}/inspector${AT}${more}`);
  }

  it('the view says what fills the context, and the timeline why an event is not in it', async () => {
    const { page, problems } = await opened(
      [
        text('user', 'what a summary stands for'),
        {
          author: 'system',
          content: text('', 'Ann asked.').content,
          actions: { compaction: { fromSeq: 1, toSeq: 1 } },
        },
        text('user', 'refund order 7, please'),
        call('c-1'),
        answer('c-1'),
        text('agent', 'taken back soon'),
      ],
      '&tab=view',
    );
    await page.getByText('About', { exact: false }).first().waitFor();
    for (const share of ['summary', 'user', 'model', 'tools']) {
      await page.locator(`.tokens li.${share}`, { hasText: '%' }).waitFor();
    }
    await page.locator('.event', { hasText: 'what a summary stands for' }).getByText('in the summary 2').waitFor();
    await app.sessions.rewindSession({ ...KEY, toSeq: 5 });
    await page.locator('.event', { hasText: 'taken back soon' }).getByText('rewound by 7').waitFor();
    await page.locator('.event', { hasText: 'taken back soon' }).click();
    await page.getByText('Event 6 is not given to a model: rewound by 7.').waitFor();
    await page.getByRole('button', { name: 'Go to event 7' }).waitFor();
    await expectAccessible(page);
    await savedImage(page, 'inspector-view');
    expect(problems).toEqual([]);
  });

  it('the view says how far the next summary is', async () => {
    await app.close();
    app = await RestApp.start('Express', {
      summarizer: { events: 3, autoSummarize: false, keepRecentEvents: 1 },
      imports: [SessionsInspectorModule.forRoot({ actions: true })],
    });
    const { page, problems } = await opened(
      [text('user', 'hello'), text('agent', 'hello'), text('user', 'thanks')],
      '&tab=view',
    );
    await page.getByText('The next summary').click();
    const outlook = page.locator('.next-summary');
    await outlook.getByText('3 of 3 events').waitFor();
    await outlook.getByText('It is not due yet.').waitFor();
    await outlook.getByText('it would stand for events 1 to 2').waitFor();
    const session = (await app.sessions.getSession(KEY)) as never;
    await app.sessions.appendEvent({ session, event: text('agent', 'bye') as never });
    await outlook.getByText('4 of 3 events: met').waitFor();
    await outlook.getByText('It is due.').waitFor();
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });

  it('fields that are null are as if they were not there', async () => {
    const nulls = { text: null, functionCall: null, functionResponse: null, inlineData: null };
    const event = { author: 'agent', content: { role: 'model', parts: [nulls, { ...nulls, text: 'said' }] } };
    const { page, problems } = await opened(
      [
        text('user', 'hello'),
        { ...event, errorCode: null, modelVersion: null, actions: { transferToAgent: null, stateDelta: {} } },
      ],
      '&tab=check',
    );
    const row = page.locator('.event', { hasText: 'said' });
    expect(await row.locator('.kind').textContent()).toBe('agent');
    expect(await row.locator('.effect').count()).toBe(0);
    await page.getByRole('button', { name: 'Check the log' }).click();
    await page.getByText('Nothing is wrong with 2 events').waitFor();
    expect(problems).toEqual([]);
  });

  it('fields that are objects where a text is expected are shown as JSON', async () => {
    const odd = { odd: [1], constructor: 'x' };
    const { page, problems } = await opened(
      [
        text('user', 'hello'),
        { author: 'agent', errorCode: odd, errorMessage: [odd], modelVersion: odd, actions: { transferToAgent: odd } },
        { author: 'agent', content: { role: 'model', parts: [{ functionCall: { id: 'c-1', name: odd, args: 'x' } }] } },
        text('agent', 'said'),
      ],
      '&seq=2&tab=event',
    );
    const shown = JSON.stringify(odd);
    await page.locator('.event', { hasText: 'said' }).waitFor();
    const effects = page.locator('.event .effect', { hasText: shown });
    expect(await effects.allTextContents()).toEqual([`Hands over to ${shown}`, `${shown} ${shown}`]);
    await page.getByRole('button', { name: 'Event after' }).click();
    await page.locator('.event .name, .event', { hasText: shown }).last().waitFor();
    expect(problems).toEqual([]);
  });

  it('the log is checked, and findings are named', async () => {
    const { page, problems } = await opened([text('user', 'hello'), call('c-1'), answer('c-1')], '&tab=check');
    const check = page.getByRole('button', { name: 'Check the log' });
    await check.click();
    await page.getByText('Nothing is wrong with 3 events').waitFor();
    const session = (await app.sessions.getSession(KEY)) as never;
    await app.sessions.appendEvent({ session, event: answer('nobody asked') as never });
    await check.click();
    await page.getByRole('list', { name: 'Findings' }).getByText('TOOL_RESPONSE_WITHOUT_CALL').waitFor();
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });

  it('an event is appended by hand, and what is refused is said', async () => {
    const { page, problems } = await opened([text('user', 'hello')]);
    await page.getByText('Append an event').click();
    await page.getByLabel('Text').fill('by hand');
    await page.getByLabel('State to set, as JSON').fill('{"step": 2}');
    await page.getByRole('button', { name: 'Append', exact: true }).click();
    await page.locator('.event', { hasText: 'by hand' }).waitFor();
    await page.getByRole('button', { name: 'step', exact: true }).waitFor();
    expect(problems).toEqual([]);
    await page.getByLabel('State to set, as JSON').fill('[2]');
    await page.getByRole('button', { name: 'Append', exact: true }).click();
    await page.getByRole('alert').getByText('not an object').waitFor();
    expect((await app.sessions.getSession(KEY))?.events).toHaveLength(2);
  });

  it('the list leaves out what has not changed for long', async () => {
    await app.sessions.createSession(KEY);
    const { page, problems } = await browser.open(`${app.url}/inspector#app=shop&since=week`);
    await page.getByRole('link', { name: 'first' }).waitFor();
    await page.clock.setFixedTime(Date.now() + MONTH_MS);
    await page.reload();
    await page.getByText('No session matches the filter').waitFor();
    await page.getByLabel('Changed').selectOption('');
    await page.getByRole('link', { name: 'first' }).waitFor();
    expect(problems).toEqual([]);
  });
});
