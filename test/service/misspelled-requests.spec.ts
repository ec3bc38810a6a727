import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { AgentSessions, type RunHandler } from '../../src/agents/index.js';
import { SessionsClient } from '../../src/client/index.js';
import { SummarizerSessionManager } from '../../src/summarizer/index.js';
import { SERVICE_OPERATIONS } from '../../src/sessions/service-operations.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };

/** Fields that are long enough to tell a slip, by their methods. */
const FIELDS = Object.entries(SERVICE_OPERATIONS).flatMap(([method, operation]) => {
  const names = 'fields' in operation ? operation.fields : [];
  return names.filter((name) => name.length > 3).map((name) => ({ method, name }));
});

type KeyOfApp = { readonly appName: string };

const silent: RunHandler = async function* () {
  yield* [];
};

type Method = (request: object, decide: () => void) => Promise<unknown> | AsyncIterable<unknown>;

describe('requests of the service', () => {
  let sessions: SessionService;

  beforeEach(async () => {
    sessions = new SessionService({ storage: new InMemorySessionStorage() });
    await sessions.createSession(KEY);
  });

  afterEach(() => sessions.close());

  /** Calls a method with plain JavaScript. */
  async function called(method: string, request: object): Promise<unknown> {
    const call = Reflect.get(sessions, method) as Method;
    return call.call(sessions, request, () => undefined);
  }

  it.each(FIELDS)('of $method refuse $name in another spelling, and say what was meant', async ({ method, name }) => {
    const slip = name.slice(0, -2) + name.slice(-1);
    const { [name as keyof typeof KEY]: _, ...others } = KEY;
    for (const wrong of [slip, name.toUpperCase()]) {
      await expect(called(method, { ...others, [wrong]: 1 })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        path: wrong,
        message: expect.stringMatching(/did you mean \w+\?/),
      });
    }
  });

  it('of a view refuse a config in another spelling', async () => {
    const config = { numRecentEvent: 2 } as object;
    const misspelled = { code: 'INVALID_INPUT', path: 'config.numRecentEvent' };
    await expect(sessions.getSession({ ...KEY, config })).rejects.toMatchObject(misspelled);
    await expect(sessions.explainView({ ...KEY, config })).rejects.toMatchObject(misspelled);
  });

  it('of a list refuse a label without a value, which would show all sessions', async () => {
    const filter = { labels: { team: undefined as unknown as string } };
    const refused = { code: 'INVALID_INPUT', path: 'filter.labels.team' };
    await expect(sessions.listSessions({ ...KEY, filter })).rejects.toMatchObject(refused);
    const client = new SessionsClient({ url: 'http://127.0.0.1:1' });
    await expect(client.listSessions({ ...KEY, filter })).rejects.toMatchObject(refused);
    expect((await sessions.listSessions({ ...KEY, filter: { status: undefined } })).sessions).toHaveLength(1);
  });

  it('of summaries refuse a field in another spelling', async () => {
    const summaries = new SummarizerSessionManager({ sessions });
    const session = { ...KEY, id: KEY.sessionId };
    const forced = summaries.createSessionSummary({ session, forced: true } as { session: typeof session });
    await expect(forced).rejects.toMatchObject({ code: 'INVALID_INPUT', path: 'forced' });
    const listed = summaries.listSummaries({ ...KEY, afterseq: 1 } as typeof KEY);
    await expect(listed).rejects.toMatchObject({ code: 'INVALID_INPUT', path: 'afterseq' });
    await summaries.close();
  });

  it('of agents refuse a field in another spelling', async () => {
    const agents = new AgentSessions({ sessions });
    const run = { ...KEY, newMessage: 'hi', polcy: 'enqueue' };
    expect(() => agents.run(run, silent)).toThrow(/did you mean policy/);
    const answer = { ...KEY, approvalId: 'a', answer: { confirmed: true }, schemes: {} };
    expect(() => agents.answerApproval(answer, silent)).toThrow(/did you mean schema/);
    await expect(agents.stop({ ...KEY, invocationID: 'i' } as typeof KEY)).rejects.toThrow(/did you mean invocationId/);
    await expect(agents.pendingApprovals({ appName: 'shop', limt: 1 } as { appName: string })).rejects.toThrow(/limit/);
    await expect(
      agents.expireApprovals({ appName: 'shop', userID: 'ann' } as object as KeyOfApp, silent),
    ).rejects.toThrow(/did you mean userId/);
    await expect(agents.close({ drainMS: 5 } as object)).rejects.toThrow(/did you mean drainMs/);
    await agents.close();
  });

  it('may have more: a request may be an object of the app', async () => {
    const row = { ...KEY, title: 'Ann', limitation: 1, toolCalls: [], orderId: 7 };
    expect(await sessions.getSession(row)).toMatchObject({ id: 's-1' });
    expect((await sessions.listSessions(row)).sessions).toHaveLength(1);
  });
});
