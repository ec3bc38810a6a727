import type { PendingApproval, RunPolicy } from '../../src/agents/index.js';
import {
  type RemoteApproval,
  type RemoteRunEvent,
  type RunAgentRequest,
  SessionsClient,
} from '../../src/client/index.js';
import { RestApp, frameworks } from '../rest/rest-app.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

const KEY = { appName: 'shop', userId: 'ann/1', sessionId: 's 1' };

// The client has types of its own, since it must not reach the agents.
const approval = (given: PendingApproval): RemoteApproval => given;
const policy = (given: RunPolicy): RunAgentRequest['policy'] => given;

const textsOf = (events: readonly RemoteRunEvent[]) => events.map(({ content }) => content?.parts?.[0]?.text);

async function textsStreamed(client: SessionsClient, newMessage: string): Promise<(string | undefined)[]> {
  const stored: RemoteRunEvent[] = [];
  for await (const event of client.streamAgent({ ...KEY, newMessage })) if (event.partial !== true) stored.push(event);
  return textsOf(stored);
}

const answerOf = (type: string, text: string): Response => new Response(text, { headers: { 'content-type': type } });

const page = (): Response => answerOf('text/html', '<html>Welcome</html>');
const endedStream = (): Response => answerOf('text/event-stream', ': still here\n\n');
const PIECE = JSON.stringify({ author: 'support', partial: true, offset: 0 });
const streamOfAPiece = (): Response => answerOf('text/event-stream', `data: ${PIECE}\n\n`);

describe.each(frameworks)('the agents of SessionsClient on %s', (framework) => {
  let app: RestApp;
  let client: SessionsClient;

  beforeEach(async () => {
    app = await RestApp.start(framework, { agents: true });
    client = new SessionsClient({ url: app.url });
    await app.sessions.createSession(KEY);
  });
  afterEach(() => app.close());

  const isRunning = async () => (await app.sessions.getTurn(KEY)) !== undefined;

  it('run an agent, stop it, and refuse a second run', async () => {
    const request = { ...KEY, newMessage: 'hi', invocationId: 'i-1', stateDelta: { asked: 1 } };
    const events = await client.runAgent(request);
    expect(textsOf(events)).toEqual(['echo: hi']);
    expect(await client.runAgent(request)).toEqual(events);
    expect((await app.sessions.getSession(KEY))?.state.get('asked')).toBe(1);
    const content = { role: 'user', parts: [{ text: 'wait' }] };
    const waiting = client.runAgent({ ...KEY, newMessage: content, policy: policy('enqueue') });
    await until(isRunning);
    await expect(client.runAgent({ ...KEY, newMessage: 'hi' })).rejects.toMatchObject({ code: 'TURN_HELD' });
    await expect(client.streamAgent({ ...KEY, newMessage: 'hi' }).next()).rejects.toMatchObject({ code: 'TURN_HELD' });
    expect(await client.stopAgent(KEY)).toBe(true);
    expect((await waiting).at(-1)).toMatchObject({ errorCode: 'STOPPED' });
    expect(await client.stopAgent({ ...KEY, invocationId: 'i-1' })).toBe(false);
  });

  it('let an agent try again', async () => {
    const request = { ...KEY, newMessage: 'fail once', invocationId: 'i-1' };
    const failed = { code: 'AGENT_FAILED', reason: 'UNAVAILABLE', retryable: true, invocationId: 'i-1' };
    await expect(client.runAgent(request)).rejects.toMatchObject(failed);
    const stream = client.streamAgent(request);
    expect((await stream.next()).value).toMatchObject({ errorCode: 'FAILED' });
    await expect(stream.next()).rejects.toMatchObject(failed);
    expect(textsOf(await client.runAgent({ ...request, retry: true })).at(-1)).toBe('echo: fail once');
  });

  it('list and answer approvals', async () => {
    await client.runAgent({ ...KEY, newMessage: 'refund' });
    const { approvals } = await client.listApprovals({ ...KEY, limit: 5 });
    const [first] = approvals;
    if (!first) throw new Error('There is no approval');
    expect(approval(first)).toMatchObject({
      ...KEY,
      tool: 'refund',
      hint: 'Refund?',
      call: { name: 'refund', args: {} },
    });
    const answer = { ...first, confirmed: true, payload: { amount: 5 } };
    const events = await client.answerApproval(answer);
    expect(events[0]?.content?.parts?.[0]?.functionResponse?.response).toEqual({
      confirmed: true,
      payload: { amount: 5 },
    });
    expect(await client.answerApproval(answer)).toEqual(events);
    await expect(client.answerApproval({ ...first, confirmed: false })).rejects.toMatchObject({
      code: 'APPROVAL_ANSWERED',
    });
  });

  it('stream a run, and reconnect without a lost or a repeated event', async () => {
    const whole: RemoteRunEvent[] = [];
    for await (const event of client.streamAgent({ ...KEY, newMessage: 'hi' })) whole.push(event);
    expect(whole.map(({ partial }) => partial === true)).toEqual([true, false]);

    const proxy = await TcpProxy.start({ port: Number(new URL(app.url).port), host: '127.0.0.1' });
    const behind = new SessionsClient({ url: `http://127.0.0.1:${proxy.port}` });
    const seen: RemoteRunEvent[] = [];
    const reading = (async () => {
      const request = { ...KEY, newMessage: 'slow', streaming: false };
      for await (const event of behind.streamAgent(request)) seen.push(event);
    })();
    await until(() => seen.length === 1);
    proxy.reset();
    await client.stopAgent(KEY);
    await reading;
    expect(textsOf(seen)).toEqual(['soon', undefined]);
    expect(seen[1]).toMatchObject({ errorCode: 'STOPPED' });
    await proxy.stop();
  });

  /** A client whose first requests get these answers in the server's place. */
  const behind = (...answers: (() => Response)[]): SessionsClient =>
    new SessionsClient({ url: app.url, fetch: async (input, init) => answers.shift()?.() ?? fetch(input, init) });

  it('go on with a stream that a proxy has ended as if it was complete', async () => {
    expect(await textsStreamed(behind(endedStream), 'hi')).toEqual(['echo: hi']);
    expect(await textsStreamed(behind(page), 'ho')).toEqual(['echo: ho']);
    const pages = behind(page, page, page, page, page).streamAgent({ ...KEY, newMessage: 'hi' });
    const refused = { status: 200, message: expect.stringMatching(/Check that `url`/) };
    await expect(pages.next()).rejects.toMatchObject(refused);
  });

  it('reconnect as often as a stream breaks, if each connection says something', async () => {
    const broken = behind(...Array.from({ length: 6 }, () => streamOfAPiece));
    expect(await textsStreamed(broken, 'hi')).toEqual(['echo: hi']);
  });

  it('leave a stream without stopping the agent', async () => {
    const leaving = new AbortController();
    const reading = client.streamAgent({ ...KEY, newMessage: 'slow', signal: leaving.signal });
    await reading.next();
    leaving.abort();
    expect(await reading.next()).toEqual({ done: true, value: undefined });
    expect(await isRunning()).toBe(true);
    const next = client.streamAgent({ ...KEY, newMessage: 'hi', policy: 'interrupt' });
    await next.next();
    await next.return(undefined);
    await until(async () => !(await isRunning()));
  });
});
