import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { WORK_IS_DONE } from '../../src/sessions/transport/answers.js';
import { AnswerMemory } from '../../src/sessions/transport/answer-memory.js';
import { frameworks } from '../rest/rest-app.js';
import { fillMemory } from '../support/filled-memory.js';
import { until } from '../support/until.js';
import { GraphqlApp } from './graphql-app.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const S = 'appName: "shop", userId: "ann", sessionId: "s"';
const RUN = `runAgent(${S}, invocationId: "i1", newMessage: { parts: [{ text: "hi" }] }) { events { body } }`;

describe.each(frameworks)('Answers of runs on %s', (framework) => {
  let app: GraphqlApp;

  beforeEach(async () => {
    app = await GraphqlApp.start({ framework, agents: true });
    await app.sessions.createSession(KEY);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await app.close();
  });

  const authors = async () => (await app.sessions.listEvents(KEY)).events.map(({ author }) => author);

  it('wait for memory when they are known', async () => {
    const { giveBack, asked } = await fillMemory();
    const answer = app.ask(`mutation { ${RUN} }`);
    await until(() => asked.mock.calls.length === 1);
    expect(await authors()).toEqual(['user', 'shop']);
    giveBack();
    expect((await answer).text).toContain('echo: hi');
  });

  it('are refused without memory, and can be asked for again', async () => {
    const refused = jest.spyOn(AnswerMemory.ofProcess, 'reserve').mockResolvedValueOnce(undefined);
    const { status, errors, data } = await app.ask(`mutation { ${RUN} }`);
    expect([status, errors, data]).toEqual([
      429,
      [{ message: WORK_IS_DONE, extensions: { code: 'TOO_MANY_REQUESTS', status: 429 } }],
      {},
    ]);
    expect(refused).toHaveBeenCalledTimes(1);
    expect((await app.ask(`mutation { ${RUN} }`)).text).toContain('echo: hi');
    expect(await authors()).toEqual(['user', 'shop']);
  });

  it.each([
    ['a view besides', `mutation { ${RUN} forkSession(${S}) { events { body } } }`],
    ['another operation', `query q { session(${S}) { id } } mutation m { ${RUN} }`],
  ])('are reserved before if the document has %s', async (_what, query) => {
    const { giveBack, asked } = await fillMemory();
    const answer = app.post(JSON.stringify({ query, operationName: query.startsWith('query') ? 'm' : undefined }));
    await until(() => asked.mock.calls.length === 1);
    expect(await authors()).toEqual([]);
    giveBack();
    expect((await answer).errors).toEqual([]);
  });

  it('wait over WebSockets as well', async () => {
    const reserve = jest.spyOn(AnswerMemory.ofProcess, 'reserve');
    const client = createClient({ url: app.webSocketUrl, webSocketImpl: WebSocket, retryAttempts: 0 });
    const { value } = await client.iterate({ query: `mutation { ${RUN} }` }).next();
    await client.dispose();
    expect(reserve.mock.calls.map(([{ bytes }]) => bytes)).toEqual([JSON.stringify(value).length]);
  });
});
