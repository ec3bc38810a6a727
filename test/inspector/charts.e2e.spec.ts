import type { Page } from 'playwright-core';
import { SessionsInspectorModule } from '../../src/inspector/index.js';
import type { EventInput } from '../../src/index.js';
import { TestBrowser, type WatchedPage } from '../browser/test-browser.js';
import { RestApp } from '../rest/rest-app.js';
import { until } from '../support/until.js';
import { expectAccessible } from './accessible.js';
import { savedImage } from './saved-image.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'first' };
const AT = '#app=shop&userId=ann&sessionId=first&tab=charts';
const BEGIN = Date.UTC(2026, 10, 2, 9);
const MINUTE_MS = 60_000;
const BATCH = 1_000;

const FLASH = 'gemini-2.5-flash';
const PRO = 'gemini-2.5-pro';
const PRICES = {
  [FLASH]: { input: '0.30', cachedInput: '0.075', output: '2.50' },
  [PRO]: { input: '1.25', cachedInput: '0.31', output: '10' },
};

const QUESTIONS = [
  'Where is my order 4711?',
  'It was to come on Monday.',
  'Can I have it sent to my office?',
  'How much is the express delivery?',
  'Then please refund the shipping.',
  'Which card does it go to?',
  'And when will I see it there?',
  'Do you have the blue one in 42?',
  'Add it to the order, please.',
  'Is there a discount for two?',
  'Thank you. What is the new total?',
  'Send me the invoice, too.',
];

/** A turn: a fast model answers, and for each third question a better one after a tool. */
function turnOf(text: string, index: number): EventInput[] {
  const invocationId = `turn-${index + 1}`;
  const at = BEGIN + index * MINUTE_MS;
  const prompt = 900 + 340 * index;
  const cached = index === 0 ? 0 : 300 * index;
  const first = 600 + ((index * 370) % 900);
  const isHard = index % 3 === 2;
  const message = { author: 'user', invocationId, timestamp: at, content: { role: 'user', parts: [{ text }] } };
  const usage = (output: number, thoughts: number) => ({
    promptTokenCount: prompt,
    cachedContentTokenCount: cached,
    candidatesTokenCount: output,
    thoughtsTokenCount: thoughts,
  });
  const answer = {
    author: 'assistant',
    invocationId,
    timestamp: at + first,
    modelVersion: FLASH,
    usageMetadata: usage(180 + 25 * index, 0),
    content: { role: 'model', parts: isHard ? [call(index)] : [{ text: 'Let me see: it is on its way.' }] },
  };
  if (!isHard) return [message, answer];
  const result = { functionResponse: { id: `call-${index}`, name: 'order', response: { status: 'packed' } } };
  return [
    message,
    answer,
    {
      author: 'assistant',
      invocationId,
      timestamp: at + first + 400,
      content: { role: 'user', parts: [result] },
    },
    {
      author: 'assistant',
      invocationId,
      timestamp: at + first + 2_400 + 300 * index,
      modelVersion: PRO,
      usageMetadata: usage(420, 650),
      content: { role: 'model', parts: [{ text: 'Done: I have changed the order.' }] },
    },
  ];
}

function call(index: number) {
  return { functionCall: { id: `call-${index}`, name: 'order', args: { id: 4711 } } };
}

describe('the charts of the inspector', () => {
  let browser: TestBrowser;
  let app: RestApp;

  beforeAll(async () => {
    browser = await TestBrowser.start();
  });
  afterAll(() => browser?.close());
  afterEach(() => app?.close());

  async function opened(events: readonly EventInput[], sessions: object = {}): Promise<WatchedPage> {
    app = await RestApp.start('Express', {
      imports: [SessionsInspectorModule.forRoot({ actions: true })],
      sessions: { limits: { maxBatchEvents: BATCH }, ...sessions },
    });
    const session = await app.sessions.createSession({ ...KEY, metadata: { title: 'Ann changes her order' } });
    for (let first = 0; first < events.length; first += BATCH) {
      await app.sessions.appendEvents({ session, events: events.slice(first, first + BATCH) });
    }
    return browser.open(`${app.url}/inspector${AT}`);
  }

  it('show tokens, cost and time by turn and by model, and go on with the session', async () => {
    const { page, problems } = await opened(QUESTIONS.flatMap(turnOf), { usage: { prices: PRICES } });
    const usage = await app.sessions.getUsage(KEY);
    expect(usage.models).toMatchObject([
      { model: FLASH, events: 12 },
      { model: PRO, events: 4 },
    ]);
    const [flash, pro] = usage.models;
    await until(async () => (await rows(page, 'By model'))[0]?.length === 6);
    expect(await rows(page, 'By model')).toEqual([
      [FLASH, '12', number(flash?.totalTokens), cost(flash?.costMicros), '995 ms', '1.4 s'],
      [PRO, '4', number(pro?.totalTokens), cost(pro?.costMicros), '4 s', '5.3 s'],
    ]);
    const tokens = await rows(page, 'Tokens by turn');
    expect(tokens).toHaveLength(12);
    expect(tokens.slice(0, 3)).toEqual([
      ['1–2', '0', '900', '0', '180', '1,080'],
      ['3–4', '300', '940', '0', '205', '1,445'],
      ['5–8', '1,200', '1,960', '650', '650', '4,460'],
    ]);
    expect((await rows(page, 'Time by turn')).slice(0, 3)).toEqual([
      ['1–2', '600 ms', '0 s', '600 ms'],
      ['3–4', '970 ms', '0 s', '970 ms'],
      ['5–8', '1.3 s', '3 s', '4.3 s'],
    ]);
    await expectDrawn(page, 12);
    await expectAccessible(page);
    await savedImage(page, 'inspector-charts');

    await app.sessions.append({
      session: { ...KEY, id: KEY.sessionId },
      event: turnOf('One more', 12)[0] as EventInput,
    });
    await until(async () => (await rows(page, 'Tokens by turn')).length === 13);
    await page.getByText('As a table').first().click();
    await expectAccessible(page);
    await page.getByRole('button', { name: '5–8' }).first().click();
    await page.locator('.event[aria-pressed=true]', { hasText: 'Can I have it sent' }).waitFor();
    expect(await page.locator('.turn-bar.chosen').count()).toBe(2);
    await page.getByRole('button', { name: 'Theme: auto' }).click();
    await page.getByRole('button', { name: 'Theme: light' }).click();
    await expectDrawn(page, 13);
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });

  it('say that no model reports tokens, and measure the turns all the same', async () => {
    const events = QUESTIONS.flatMap(turnOf).map(({ usageMetadata: _usage, ...event }) => event);
    const { page, problems } = await opened(events);
    await page.getByText('No event reports tokens').waitFor();
    expect(await rows(page, 'Time by turn')).toHaveLength(12);
    expect(await page.getByRole('region', { name: 'By model' }).count()).toBe(0);
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });

  it('name the models that have no price', async () => {
    const { page } = await opened(QUESTIONS.flatMap(turnOf), { usage: { prices: { [FLASH]: PRICES[FLASH] } } });
    await page.getByText('Without a price').getByText(PRO).waitFor();
    const [, pro] = await rows(page, 'By model');
    expect(pro?.[3]).toBe('–');
  });

  it('begin with the newest 2,000 events, read more when asked, and turn the pages of many turns', async () => {
    const turns = Array.from({ length: 1_250 }, (_, index) => turnOf(`question ${index}`, 3 * index));
    const events = turns.flat();
    const { page, problems } = await opened(events);
    await page.getByText(`The newest 2,000 of 2,500 events`).waitFor();
    await page.getByText('Turns 960 to 999 of 999').waitFor();
    await page.getByRole('button', { name: 'Read 500 more' }).click();
    await page.getByText('Turns 1,211 to 1,250 of 1,250').waitFor();
    expect(await page.getByText('The newest').count()).toBe(0);
    await page.getByRole('button', { name: 'Earlier' }).click();
    await page.getByText('Turns 1,171 to 1,210 of 1,250').waitFor();
    expect(await rows(page, 'Tokens by turn')).toHaveLength(40);
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });

  it('say that there are no events yet', async () => {
    const { page, problems } = await opened([]);
    await page.getByRole('tabpanel').getByText('No events yet').waitFor();
    expect(problems).toEqual([]);
  });
});

/** The texts of a table, without its head. */
async function rows(page: Page, section: string): Promise<string[][]> {
  const found = page.getByRole('region', { name: section, exact: true }).locator('tbody tr');
  return found.evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent ?? '')));
}

/** Both charts have so many bars, each as high as its chart, with parts that fill some of it. */
async function expectDrawn(page: Page, bars: number): Promise<void> {
  const drawn = await page.locator('.chart svg').evaluateAll((charts) =>
    charts.map((chart) => {
      const { height } = chart.getBoundingClientRect();
      const shares = [...chart.querySelectorAll('.turn-bar')].map((bar) =>
        [...bar.querySelectorAll('rect:not(.ground)')].reduce(
          (sum, part) => sum + part.getBoundingClientRect().height / height,
          0,
        ),
      );
      return { height, shares };
    }),
  );
  expect(drawn).toHaveLength(2);
  for (const { height, shares } of drawn) {
    expect(height).toBeGreaterThan(80);
    expect(height).toBeLessThan(200);
    expect(shares).toHaveLength(bars);
    expect(Math.max(...shares)).toBeGreaterThan(0.5);
    expect(Math.max(...shares)).toBeLessThanOrEqual(1.01);
  }
}

function number(value = 0): string {
  return value.toLocaleString('en-US');
}

function cost(micros = 0): string {
  return (micros / 1_000_000).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6 });
}
