import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { until } from '../support/until.js';
import { TestBrowser } from './test-browser.js';

const SUPPORT = join(__dirname, '../adapters/ai-sdk/support');

/** Instances on Express and on Fastify, in processes of their own, over one database. */
describe('A page with useChat', () => {
  const folder = mkdtempSync(join(tmpdir(), 'agent-sessions-'));
  const script = join(folder, 'page.js');
  const instances: { readonly process: ChildProcess; readonly url: string }[] = [];
  let browser: TestBrowser;

  beforeAll(async () => {
    const define = { 'process.env.NODE_ENV': '"production"' };
    const bundled = { bundle: true, outfile: script, format: 'iife', platform: 'browser', define } as const;
    await build({ ...bundled, entryPoints: [join(SUPPORT, 'page.mjs')], logLevel: 'error' });
    browser = await TestBrowser.start();
    for (const framework of ['express', 'fastify']) instances.push(await start(framework));
  });

  afterAll(async () => {
    await browser?.close();
    for (const { process } of instances) process.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(framework: string): Promise<{ readonly process: ChildProcess; readonly url: string }> {
    const bootstrap = join(__dirname, '../support/processes/bootstrap.cjs');
    const given = [join(SUPPORT, 'chat-server.ts'), framework, join(folder, 'chats.db'), script];
    const child = fork(bootstrap, given, { execArgv: [] });
    const [url] = (await once(child, 'message')) as [string];
    return { process: child, url };
  }

  const tab = (chat: string, instance: number) => browser.open(`${instances[instance]?.url}/?chat=${chat}`);

  it('goes on after a refresh in the middle, in a second tab and at another instance, each character once', async () => {
    const one = await tab('refresh', 0);
    await say(one.page, 'Say 80 words');
    await one.page.getByText('word5 ').waitFor();
    const two = await tab('refresh', 1);
    await two.page.getByText('word8 ').waitFor();
    await one.page.reload();
    for (const { page, problems } of [one, two]) {
      await page.getByText('word80').waitFor();
      await isReady(page);
      expect(await shown(page)).toEqual(['Say 80 words', words(80)]);
      expect(problems).toEqual([]);
    }
  });

  it('stops from another tab, and keeps what was said', async () => {
    const one = await tab('stop', 0);
    await say(one.page, 'Say 500 words');
    await one.page.getByText('word5 ').waitFor();
    const two = await tab('stop', 1);
    await two.page.getByText('word5 ').waitFor();
    await two.page.getByRole('button', { name: 'Stop' }).click();
    await isReady(one.page);
    await one.page.reload();
    await one.page.getByText('word5 ').waitFor();
    const [, said = ''] = await shown(one.page);
    expect(words(500).startsWith(said)).toBe(true);
    expect(said.length).toBeLessThan(words(400).length);
  });

  it('answers again, and shows the new answer only', async () => {
    const { page } = await tab('again', 1);
    await say(page, 'Hello');
    await page.getByText('You said Hello').waitFor();
    await isReady(page);
    await page.getByRole('button', { name: 'Again' }).click();
    await until(async () => (await idsOf('again', 0))[1]?.includes('~') === true);
    await isReady(page);
    await page.reload();
    await page.getByText('You said Hello').waitFor();
    expect(await shown(page)).toEqual(['Hello', 'You said Hello']);
  });

  it('approves a tool after a refresh, at another instance', async () => {
    const one = await tab('approve', 0);
    await say(one.page, 'Refund 7');
    await one.page.getByRole('button', { name: 'Approve' }).waitFor();
    await isReady(one.page);
    const two = await tab('approve', 1);
    const resumed: string[] = [];
    two.page.on('request', (request) => void (request.url().endsWith('/stream') && resumed.push(request.url())));
    await two.page.reload();
    await two.page.getByRole('button', { name: 'Approve' }).click();
    await two.page.getByText('Order 7 is refunded.').waitFor();
    await two.page.getByText('You said Refund 7').waitFor();
    await isReady(two.page);
    // The page has the answer. If it came again, it would replace the message, and take back the approval.
    expect(resumed).toEqual([]);
    await one.page.reload();
    await one.page.getByText('You said Refund 7').waitFor();
    expect(await shown(one.page)).toEqual(await shown(two.page));
  });

  it('goes on after its instance was killed in mid-stream', async () => {
    const one = await tab('killed', 0);
    await say(one.page, 'Say 500 words');
    await one.page.getByText('word9 ').waitFor();
    instances[0]?.process.kill('SIGKILL');
    await one.page.locator('output').getByText('error').waitFor();
    const two = await tab('killed', 1);
    await two.page.getByText('Say 500 words').waitFor();
    // The turn of the dead process ends after its time.
    await until(async () => {
      if ((await two.page.getByText('You said Hello').count()) > 0) return true;
      if (/^(ready|error)/.test(await two.page.locator('output').innerText())) await say(two.page, 'Hello');
      return false;
    });
    await isReady(two.page);
    await two.page.reload();
    // A slow page may have said it twice.
    await two.page.getByText('You said Hello').first().waitFor();
    const [asked, said = '', ...rest] = await shown(two.page);
    expect(asked).toBe('Say 500 words');
    expect(said.startsWith('word1 word2 word3 ')).toBe(true);
    expect(words(500).startsWith(said)).toBe(true);
    expect(rest.slice(-2)).toEqual(['Hello', 'You said Hello']);
  });

  async function idsOf(chat: string, instance: number): Promise<string[]> {
    const messages = (await (await fetch(`${instances[instance]?.url}/api/chat/${chat}`)).json()) as { id: string }[];
    return messages.map(({ id }) => id);
  }
});

async function say(page: Page, text: string): Promise<void> {
  await page.locator('input').fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

async function isReady(page: Page): Promise<void> {
  await page.locator('output').getByText('ready').waitFor();
}

async function shown(page: Page): Promise<string[]> {
  return (await page.locator('p').allTextContents()).map((line) => line.trim());
}

function words(count: number): string {
  return Array.from({ length: count }, (_, index) => `word${index + 1}`).join(' ');
}
