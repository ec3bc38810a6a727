import { TestAgent } from '../adapters/ag-ui/support/client.js';
import { commonApp } from './common-app.js';
import { RunningApp } from './running-app.js';
import { until } from '../support/until.js';

const SESSION = '/apps/demo/users/ann/sessions/s1';

interface Event {
  readonly partial?: boolean;
  readonly content?: { readonly parts: readonly { readonly text?: string }[] };
}

const message = (text: string) => ({ newMessage: { role: 'user', parts: [{ text }] } });
const eventsIn = async (streaming: Response): Promise<Event[]> =>
  (await streaming.text()).split('\n\n').flatMap((block) => (block ? [JSON.parse(block.slice(6)) as Event] : []));
const textIn = (events: Event[]): string | undefined => events.at(-1)?.content?.parts[0]?.text;

describe('the demo agent of the running app', () => {
  let app: RunningApp;

  const send = async (path: string, body: object): Promise<Response> =>
    fetch(app.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const say = async (text: string): Promise<string | undefined> =>
    textIn((await (await send(`${SESSION}/run`, message(text))).json()) as Event[]);

  it('repeats, remembers, asks before it refunds, and stops', async () => {
    app = await commonApp();
    expect(await (await fetch(`${app.url}/adk/list-apps`)).json()).toEqual(['demo']);
    await send(SESSION, {});
    expect(await say('My name is Ann')).toBe('I will remember your name, Ann, in all your sessions.');
    expect(await say('Hello {app:secret}')).toBe(
      'Ann said: Hello {app:secret} (I am a small agent without a model. Say: My name is Ann, or: refund order 7, or: count to 20.)',
    );

    await say('refund order 7');
    const { approvals } = (await (await fetch(`${app.url}/apps/demo/users/ann/approvals`)).json()) as {
      approvals: { approvalId: string; hint: string }[];
    };
    expect(approvals).toMatchObject([{ tool: 'refund', hint: 'Refund order 7?' }]);
    const id = encodeURIComponent(approvals[0]?.approvalId ?? '');
    const answered = await send(`${SESSION}/approvals/${id}`, { confirmed: true });
    expect(textIn((await answered.json()) as Event[])).toBe('Refunded order 7.');

    const ids = { appName: 'demo', userId: 'ann', sessionId: 's1' };
    const streaming = await send('/adk/run_sse', { ...ids, ...message('Count to 1000'), streaming: true });
    let stopped = false;
    await until(
      async () => (stopped = ((await (await send(`${SESSION}/stop`, {})).json()) as { stopped: boolean }).stopped),
    );
    const events = await eventsIn(streaming);
    expect([stopped, events.at(-1)]).toMatchObject([true, { errorCode: 'STOPPED', interrupted: true }]);
    const session = (await (await fetch(app.url + SESSION)).json()) as { state: unknown };
    expect(session.state).toMatchObject({ 'user:name': 'Ann', refunds: 1, last_answer: 'Refunded order 7.' });
  });

  it('says a long text in few pieces', async () => {
    app = await commonApp();
    const ids = { appName: 'demo', userId: 'ann', sessionId: 'long' };
    await send('/apps/demo/users/ann/sessions/long', {});
    const words = 'a '.repeat(10_000);
    const events = await eventsIn(await send('/adk/run_sse', { ...ids, ...message(words), streaming: true }));
    const pieces = events.filter(({ partial }) => partial === true);
    expect(pieces.map((piece) => textIn([piece])).join('')).toBe(textIn(events));
    expect(textIn(events)).toContain(words);
    expect(pieces.length).toBeLessThanOrEqual(200);
  });

  it('answers clients of AG-UI', async () => {
    app = await commonApp();
    const agent = new TestAgent(`${app.url}/apps/demo/users/ann/ag-ui`, { threadId: 'ag-ui' });
    await agent.connectAgent();
    expect(agent.messages).toEqual([]);
    await agent.say('refund order 8', 'u1').runAgent();
    const [interrupt] = agent.pendingInterrupts;
    expect(interrupt).toMatchObject({ message: 'Refund order 8?' });
    await agent.runAgent({ resume: [{ interruptId: interrupt?.id ?? '', status: 'resolved', payload: true }] });
    expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Refunded order 8.' });
  });

  it('is not there with DEMO_AGENT=false', async () => {
    app = await RunningApp.start({ SESSIONS_PROVIDER: 'memory', DEMO_AGENT: 'false' });
    try {
      expect(await (await fetch(`${app.url}/adk/list-apps`)).json()).toEqual([]);
      await send(SESSION, {});
      const answer = await send(`${SESSION}/run`, message('Hello'));
      expect([answer.status, await answer.json()]).toMatchObject([404, { code: 'AGENT_NOT_FOUND' }]);
    } finally {
      await app.remove();
    }
  });
});
