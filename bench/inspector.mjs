import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { chromium } from 'playwright-core';
import { SessionService, SessionsModule } from '../dist/index.js';
import { SessionsInspectorModule } from '../dist/inspector/index.js';
import { OpenAccess, SessionsRestModule } from '../dist/rest.js';
import { makeEvents } from './support/events.mjs';

export const title =
  'The inspector, scrolled from the last event to the first and back, with a long session beside a short one';

const EVENTS = Number(process.env.BENCH_EVENTS ?? 100_000);
const FEW = 1_000;
const BATCH = 1_000;
/** Of a screen each. */
const STEPS = 60;
const KEY = { appName: 'bench', userId: 'ann' };

export async function run() {
  const app = await NestFactory.create(root(), { logger: false, forceCloseConnections: true });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  try {
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    const sides = {};
    for (const [side, count] of Object.entries({ raw: FEW, ours: EVENTS })) {
      await fill(app.get(SessionService), String(count), count);
      sides[side] = await tasksOf(browser, `${url}/inspector#app=bench&userId=ann&sessionId=${count}`, count);
    }
    return ['longest', 'sum'].map((what) => {
      const [ours, raw] = [sides.ours[what], sides.raw[what]];
      return { what: NAMES[what], unit: 'ms', ours, raw, ratio: ours / raw };
    });
  } finally {
    await browser.close();
    await app.close();
  }
}

const NAMES = {
  longest: `longest task of the page, ${EVENTS} events beside ${FEW}`,
  sum: `all tasks over 50 ms, ${EVENTS} events beside ${FEW}`,
};

function root() {
  const sessions = SessionsModule.forRoot({ provider: 'memory', isGlobal: true, limits: { maxBatchEvents: BATCH } });
  return SessionsRestModule.forRoot({ access: OpenAccess, imports: [sessions, SessionsInspectorModule.forRoot()] });
}

async function fill(sessions, sessionId, count) {
  const session = await sessions.createSession({ ...KEY, sessionId });
  for (let done = 0; done < count; done += BATCH) {
    await sessions.appendEvents({ session, events: makeEvents(Math.min(BATCH, count - done), done) });
  }
}

/** Tasks that keep the page from answering for more than 50 ms, as the browser counts them. */
async function tasksOf(browser, address, count) {
  const page = await (await browser.newContext()).newPage();
  await page.addInitScript(() => {
    globalThis.tasks = [];
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) globalThis.tasks.push(duration);
    }).observe({ type: 'longtask', buffered: true });
  });
  await page.goto(address);
  const timeline = page.getByRole('region', { name: 'Events' });
  await page.getByText(`/ ${count.toLocaleString('en-US')}`).waitFor();
  const isDrawn = () => page.waitForFunction(() => document.querySelectorAll('.event.loading').length === 0);
  for (const direction of [-1, 1]) {
    for (let step = 0; step < STEPS; step++) {
      await timeline.evaluate(
        (element, [by, steps]) => element.scrollBy({ top: (by * element.scrollHeight) / steps }),
        [direction, STEPS],
      );
      await isDrawn();
    }
  }
  const tasks = await page.evaluate(() => globalThis.tasks);
  await page.context().close();
  // Shorter ones are not told.
  const sum = tasks.reduce((all, each) => all + each, 0);
  return { longest: Math.max(50, ...tasks), sum: Math.max(50, sum) };
}
