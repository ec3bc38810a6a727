import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { COMPILED_EXAMPLES, compileExample } from '../support/compiled-examples.js';
import { TestBrowser } from './test-browser.js';

/** An instance of the example in a process of its own. */
class Instance {
  private constructor(
    private readonly process: ChildProcess,
    readonly url: string,
  ) {}

  static async start(database: string): Promise<Instance> {
    const child = spawn(process.execPath, [join(COMPILED_EXAMPLES, 'chat-page/main.js')], {
      env: { ...process.env, PORT: '0', CHAT_DATABASE: database },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (!child.stdout) throw new Error('The example has no output');
    for await (const line of createInterface({ input: child.stdout })) {
      const [url] = /http:\S+/.exec(line) ?? [];
      if (url !== undefined) return new Instance(child, url);
    }
    throw new Error('The example did not start');
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const exited = once(this.process, 'exit');
    this.process.kill(signal);
    await exited;
  }
}

describe('the chat of the examples, in a browser,', () => {
  const folder = mkdtempSync(join(tmpdir(), 'agent-sessions-'));
  const instances: Instance[] = [];
  let browser: TestBrowser;

  beforeAll(async () => {
    compileExample('chat-page');
    browser = await TestBrowser.start();
    for (let count = 0; count < 2; count++) instances.push(await Instance.start(join(folder, 'chat.db')));
  });

  afterAll(async () => {
    await browser?.close();
    for (const instance of instances) await instance.stop('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  });

  /** The chat in a tab of one of the instances. */
  async function tab(chat: string, instance: 0 | 1): Promise<{ page: Page; problems: readonly string[] }> {
    return browser.open(`${instances[instance]?.url}/?chat=${chat}`);
  }

  it('shows an answer to two tabs, at two instances, and goes on after a refresh in the middle', async () => {
    const [one, two] = [await tab('refresh', 0), await tab('refresh', 1)];
    await say(one.page, 'Say 60 words');
    const partial = 'p.partial';
    await two.page.locator(partial).getByText('word5').waitFor();
    await one.page.reload();
    await one.page.locator(partial).waitFor();
    const seen = wordsOf(await one.page.locator(partial).innerText());
    expect(seen.slice(0, 5)).toEqual(words(5));
    for (const { page } of [one, two]) {
      await page.locator('p:not(.partial)').getByText('word60').waitFor();
      expect(await shown(page)).toEqual(['Say 60 words', words(60).join(' ')]);
    }
    // A page that is reloaded may find the session there, which the browser reports.
    expect([...one.problems, ...two.problems].filter((problem) => !problem.includes('404'))).toEqual([]);
  });

  it('shows events whose ids are those of elements of the page, and runs no script but its own', async () => {
    const url = instances[0]?.url ?? '';
    const session = `${url}/apps/shop/users/ann/sessions/ids`;
    await post(session, {});
    const ids = ['log', 'approvals', 'stop', '__proto__', 'toString'];
    for (const id of ids) {
      const content = { role: 'user', parts: [{ text: `said by ${id}` }] };
      expect((await post(`${session}/events`, { id, author: 'user', content })).status).toBe(201);
    }
    const { page } = await tab('ids', 0);
    await page.getByText('said by toString').waitFor();
    expect(await shown(page)).toEqual(ids.map((id) => `said by ${id}`));
    expect(await page.locator('#log').count()).toBe(1);
    const { headers } = await fetch(url);
    expect(headers.get('content-security-policy')).toContain("script-src 'self'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    await page.evaluate(`
      const script = document.createElement('script');
      script.textContent = 'window.ran = true';
      document.body.append(script);
    `);
    expect(await page.evaluate('window.ran')).toBeUndefined();
  });

  it('never shows a character twice, or out of order', async () => {
    const { page } = await tab('order', 0);
    await page.evaluate(`
      window.wrong = [];
      const all = Array.from({ length: 50 }, (_, index) => 'word' + (index + 1)).join(' ');
      new MutationObserver(() => {
        for (const line of document.querySelectorAll('#log > p:not(.user)')) {
          if (!all.startsWith(line.textContent.trimEnd())) window.wrong.push(line.textContent);
        }
      }).observe(document.querySelector('#log'), { childList: true, subtree: true, characterData: true });
    `);
    await say(page, 'Say 50 words');
    await page.locator('p:not(.partial)').getByText('word50').waitFor();
    expect(await page.evaluate('window.wrong')).toEqual([]);
  });

  it('takes a message only when its session is there', async () => {
    const { page } = await tab('slow', 0);
    await page.route('**/sessions/slow', async (route) => {
      await delay(1000);
      await route.continue();
    });
    await page.reload();
    await say(page, 'Say 2 words');
    await page.locator('p:not(.partial)').getByText('word2').waitFor();
  });

  it('stops an answer from another tab', async () => {
    const [one, two] = [await tab('stop', 0), await tab('stop', 1)];
    await say(one.page, 'Say 500 words');
    await two.page.locator('p.partial').getByText('word5').waitFor();
    await two.page.getByRole('button', { name: 'Stop' }).click();
    await one.page.locator('p.interrupted').waitFor();
    const [, answer = ''] = await shown(one.page);
    expect(wordsOf(answer)).toEqual(words(wordsOf(answer).length));
    expect(wordsOf(answer).length).toBeLessThan(500);
  });

  it('asks before a refund, also after a refresh, and the other instance goes on', async () => {
    const [one, two] = [await tab('refund', 0), await tab('refund', 1)];
    await say(one.page, 'Refund 4711');
    await one.page.getByText('Refund order 4711?').waitFor();
    await two.page.reload();
    await two.page.getByRole('button', { name: 'Approve' }).click();
    for (const { page } of [one, two]) {
      await page.locator('p:not(.partial)').getByText('Order 4711 is refunded.').waitFor();
      await page.getByRole('button', { name: 'Approve' }).waitFor({ state: 'detached' });
    }
  });

  it('keeps what was said when the instance dies', async () => {
    const [one, two] = [await tab('died', 0), await tab('died', 1)];
    await say(one.page, 'Say 500 words');
    await two.page.locator('p.partial').getByText('word8').waitFor();
    await instances[0]?.stop('SIGKILL');
    await two.page.reload();
    await two.page.locator('p.partial').getByText('word5').waitFor();
    await two.page.locator('p.user').getByText('Say 500 words').waitFor();
  });
});

function post(path: string, body: object): Promise<Response> {
  return fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
}

async function say(page: Page, text: string): Promise<void> {
  await page.locator('input').fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

async function shown(page: Page): Promise<string[]> {
  return page.locator('#log > p').allInnerTexts();
}

function words(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `word${index + 1}`);
}

function wordsOf(text: string): string[] {
  return text.trim().split(' ');
}
