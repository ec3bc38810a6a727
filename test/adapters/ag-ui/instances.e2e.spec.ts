import { EventType } from '@ag-ui/core';
import type { OpenStorage } from '../../../src/testing/open-storage.js';
import { until } from '../../support/until.js';
import { describeSuite } from '../support/describe-suite.js';
import { closeGate, gate } from './support/agent.js';
import { textsIn } from './support/client.js';
import { Instance } from './support/instance.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 't1' };
const suite = { framework: 'AG-UI', peer: '@ag-ui/core', suite: "two instances with @ag-ui/client's HttpAgent" };

describeSuite(suite, (store) => {
  let opened: OpenStorage;
  let one: Instance;
  let two: Instance;

  beforeAll(async () => {
    opened = await store.open({});
    one = await Instance.start('Express', opened.storage);
    two = await Instance.start('Fastify', opened.storage);
  });
  beforeEach(() => one.sessions.deleteSession(KEY));
  afterAll(async () => {
    await one?.close();
    await two?.close();
    await opened?.destroy();
  });

  /** What users and agents said, in the order of the log. */
  async function said(): Promise<string[]> {
    const { events } = await two.sessions.listEvents(KEY);
    return events.flatMap(({ content }) => (content?.parts ?? []).flatMap(({ text }) => text ?? []));
  }

  it('shows at the other instance what was said, with the same ids', async () => {
    const page = one.page().say('think', 'u1');
    await page.runAgent();
    await page.say('weather', 'u2').runAgent();
    const refreshed = two.page();
    await refreshed.connectAgent();
    expect(refreshed.messages).toHaveLength(7);
    expect(refreshed.messages).toEqual(page.messages);
    expect(refreshed.state).toEqual(page.state);
    expect(refreshed.state).toMatchObject({ mood: 'calm', 'user:lang': 'en' });
  });

  it('connects in mid-answer at the other instance, with each character once', async () => {
    closeGate();
    const running = one.page().say('slowly', 'u1');
    const over = running.runAgent();
    await until(() => Object.values(running.texts).includes('Half '));
    const refreshed = two.page();
    const read = refreshed.connectAgent();
    await until(() => Object.values(refreshed.texts).includes('Half '));
    gate.open();
    await Promise.all([over, read]);
    for (const page of [running, refreshed]) expect(Object.values(page.texts)).toEqual(['Half an answer.']);
    expect(refreshed.messages).toEqual(running.messages);
    expect(refreshed.types.filter((type) => type.startsWith('RUN_'))).toEqual([
      'RUN_STARTED',
      'RUN_FINISHED',
      'RUN_STARTED',
      'RUN_FINISHED',
    ]);
  });

  it('continues within a message after Last-Event-ID, at the other instance', async () => {
    await one.page().say('hello', 'u1').runAgent();
    closeGate();
    const first = await one.follow();
    const over = one.page().say('slowly', 'u2').runAgent();
    await until(() => Object.values(textsIn(first.received)).includes('Half '));
    first.leave();
    const second = await two.follow({ 'last-event-id': first.received.at(-1)?.id ?? '' });
    gate.open();
    await over;
    await until(() => second.count(EventType.RUN_FINISHED) === 1);
    second.leave();
    expect(Object.values(textsIn([...first.received, ...second.received]))).toEqual(['slowly', 'Half an answer.']);
    expect(second.count(EventType.RUN_STARTED) + second.count(EventType.MESSAGES_SNAPSHOT)).toBe(0);
  });

  it('answers an interrupt at the other instance', async () => {
    await one.page().say('refund', 'u1').runAgent();
    const page = two.page();
    await page.connectAgent();
    const [interrupt] = page.pendingInterrupts;
    expect(interrupt).toMatchObject({ message: 'Refund?', toolCallId: 'c1' });
    const resume = [{ interruptId: interrupt?.id ?? '', status: 'cancelled' as const }];
    const { newMessages } = await page.runAgent({ resume });
    expect(newMessages).toMatchObject([{ role: 'tool', toolCallId: 'c1' }, { content: 'echo: refund' }]);
    const last = one.page();
    await last.connectAgent();
    expect(last.pendingInterrupts).toEqual([]);
    expect(last.messages).toEqual(page.messages);
  });

  it('takes the results of the tools of a page at the other instance', async () => {
    const tools = [{ name: 'setColor', description: 'Paints.', parameters: { type: 'object' } }];
    await one.page().say('paint', 'u1').runAgent({ tools });
    const page = two.page();
    await page.connectAgent();
    page.addMessage({ id: 'r1', role: 'tool', toolCallId: 'front-1', content: 'painted' });
    const { newMessages } = await page.runAgent({ tools });
    expect(newMessages).toMatchObject([{ content: 'result: {"result":"painted"}' }]);
  });

  it('answers a repeated request and a repeated answer with what is stored', async () => {
    const answer = { content: 'echo: refund' };
    await one.page().say('refund', 'u1').runAgent({ runId: 'r1' });
    const page = two.page();
    await page.connectAgent();
    const resume = page.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: 'resolved' as const }));
    expect((await page.runAgent({ resume })).newMessages).toMatchObject([{ role: 'tool' }, answer]);
    const logged = await said();
    for (const instance of [one, two]) {
      const messages = [{ id: 'u1', role: 'user', content: 'refund' }];
      for (const body of [
        { runId: 'r1', messages },
        { runId: 'r2', resume },
      ]) {
        const { text } = await instance.post('run', { threadId: 't1', ...body });
        expect(text).toContain('MESSAGES_SNAPSHOT');
        expect(text).toContain(JSON.stringify(answer).slice(1, -1));
        expect(text).toContain('"outcome":{"type":"success"}');
      }
    }
    expect(await said()).toEqual(logged);
  });

  it('runs once what a client sends to both instances', async () => {
    const pages = [one, two].map((instance) => instance.page().say('hello', 'u1'));
    const runs = await Promise.all(pages.map((page) => page.runAgent({ runId: 'r1' })));
    for (const { newMessages } of runs) expect(newMessages).toMatchObject([{ content: 'echo: hello' }]);
    expect(await said()).toEqual(['hello', 'echo: hello']);
  });

  it('refuses a second message while the other instance answers, and stores nothing of it', async () => {
    closeGate();
    const running = one.page().say('slowly', 'u1');
    const over = running.runAgent();
    await until(() => Object.keys(running.texts).length > 0);
    const refused = await two.post('run', {
      threadId: 't1',
      runId: 'r2',
      messages: [{ id: 'u2', role: 'user', content: 'hello' }],
    });
    expect(refused).toMatchObject({ status: 409, body: { code: 'TURN_HELD' } });
    gate.open();
    await over;
    expect(await said()).toEqual(['slowly', 'Half an answer.']);
  });

  it('shows state that the other instance sets, as a patch', async () => {
    await one.page().say('hello', 'u1').runAgent();
    const watching = await one.follow();
    await until(() => watching.count(EventType.RUN_FINISHED) === 1);
    const session = await two.sessions.getSession(KEY);
    if (!session) throw new Error('There is the thread');
    await two.sessions.appendEvent({ session, event: { author: 'system', actions: { stateDelta: { 'a/b': 2 } } } });
    await until(() => watching.count(EventType.STATE_DELTA) === 1);
    watching.leave();
    expect(watching.received.find(({ event }) => event.type === EventType.STATE_DELTA)?.event).toMatchObject({
      delta: [{ op: 'add', path: '/a~1b', value: 2 }],
    });
  });
});
