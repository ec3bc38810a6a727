import { type Answer, GraphqlApp } from './graphql-app.js';

const S = 'appName: "shop", userId: "ann", sessionId: "s"';
const SESSION = { appName: 'shop', userId: 'ann', id: 's' };
const LIMIT_EXCEEDED = { code: 'LIMIT_EXCEEDED' };

const aliases = (count: number, field: string): string =>
  Array.from({ length: count }, (_, index) => `a${index}: ${field}`).join(' ');

const problemOf = ({ errors }: Answer): unknown => errors[0]?.extensions;

describe('memory limits of documents', () => {
  let app: GraphqlApp;

  afterEach(async () => {
    jest.restoreAllMocks();
    await app.close();
  });

  async function start(limits = {}, events = 0, text = 'x'): Promise<void> {
    app = await GraphqlApp.start({ server: { limits } });
    await app.sessions.createSession({ appName: 'shop', userId: 'ann', sessionId: 's', state: { long: text } });
    for (let number = 0; number < events; number++) {
      const event = { author: 'user', content: { role: 'user', parts: [{ text }] } };
      await app.sessions.appendEvent({ session: SESSION, event });
    }
  }

  const ask = (query: string): Promise<Answer> => app.ask(query);
  const page = (fields: string): Promise<Answer> => ask(`{ events(${S}, first: 10) { nodes { ${fields} } } }`);

  it.each([
    ['ASCII', `{ __typename }\n${'#\n'.repeat(40_000)}`],
    ['text of more bytes than characters', `{ __typename }\n#${'é'.repeat(40_000)}`],
  ])('refuse a long document before it is parsed: %s', async (_what, text) => {
    await start();
    const answer = await app.ask(text);
    expect(answer.status).toBe(400);
    expect(answer.errors).toEqual([
      {
        message: 'The document is longer than 65536 bytes; send values as variables.',
        extensions: { ...LIMIT_EXCEEDED, status: 413 },
      },
    ]);
    expect(answer.text).not.toContain('__typename');
  });

  it('allow a document of exactly the maximum length', async () => {
    const text = '{ __typename }#';
    await start({ maxTextBytes: text.length });
    expect((await app.ask(text)).data).toEqual({ __typename: 'Query' });
    expect(problemOf(await app.ask(`${text}#`))).toMatchObject(LIMIT_EXCEEDED);
  });

  it('refuse views without a number of events if many are selected', async () => {
    await start();
    const answer = await app.ask(`{ ${aliases(11, `session(${S}) { events { seq } }`)} }`);
    expect(answer.errors).toMatchObject([
      { message: 'The document asks for more than 10000 events and sessions; ask for smaller pages.' },
    ]);
  });

  it('stop reading when the response has the maximum number of events', async () => {
    await start({ maxItems: 3_000 }, 1_200);
    const views = jest.spyOn(app.sessions, 'getSession');
    const answer = await app.ask(
      `{ session(${S}) { a: events { seq } b: events(afterSeq: 1) { seq } c: events(afterSeq: 2) { seq } } }`,
    );
    expect(problemOf(answer)).toMatchObject(LIMIT_EXCEEDED);
    expect(answer.errors[0]?.message).toContain('3000 events and sessions');
    expect(views.mock.calls.length).toBeLessThanOrEqual(3);
  });

  it.each([
    ['events', `events(${S}, first: 10) { nodes { body } }`],
    ['views', `session(${S}) { events(numRecentEvents: 10) { body } }`],
    ['state', `session(${S}) { state }`],
    ['state in lists', `sessions(appName: "shop") { nodes { state } }`],
  ])('stop reading when the response has the maximum size: %s', async (_what, field) => {
    await start({ maxAnswerBytes: 250_000 }, 10, 'x'.repeat(10_000));
    expect((await app.ask(`{ ${field} }`)).errors).toEqual([]);
    const answer = await app.ask(`{ ${aliases(30, field)} }`);
    expect(problemOf(answer)).toMatchObject(LIMIT_EXCEEDED);
    expect(answer.text.length).toBeLessThan(260_000);
  });

  it('count data that the response has twice', async () => {
    await start({ maxAnswerBytes: 250_000 }, 10, 'x'.repeat(10_000));
    expect((await page('content actions')).errors).toEqual([]);
    expect(problemOf(await page('body content ... { a: body }'))).toMatchObject(LIMIT_EXCEEDED);
  });

  it('cut a view to the newest events that fit, and report it', async () => {
    app = await GraphqlApp.start({ sessions: { limits: { maxViewBytes: 50_000 } } });
    await app.sessions.createSession({ appName: 'shop', userId: 'ann', sessionId: 's' });
    for (let number = 0; number < 10; number++) {
      const content = { parts: [{ text: 'x'.repeat(10_000) }] };
      await app.sessions.appendEvent({ session: SESSION, event: { author: 'user', content } });
    }
    const { data } = await ask(`{ session(${S}) { eventsTruncated events { seq } } }`);
    expect(data).toEqual({ session: { eventsTruncated: true, events: [7, 8, 9, 10].map((seq) => ({ seq })) } });
    const short = await ask(`{ session(${S}) { eventsTruncated events(numRecentEvents: 2) { seq } } }`);
    expect(short.data).toEqual({ session: { eventsTruncated: null, events: [{ seq: 9 }, { seq: 10 }] } });
  });

  it('count the state of listed sessions only if it is selected', async () => {
    await start();
    const lists = jest.spyOn(app.sessions, 'listSessions');
    await ask('{ sessions(appName: "shop") { nodes { id } } }');
    await ask('{ sessions(appName: "shop") { nodes { ...S } } } fragment S on ListedSession { state }');
    expect(lists.mock.calls.map(([{ includeState }]) => includeState)).toEqual([false, true]);
  });

  it('apply to each request separately', async () => {
    await start({ maxAnswerBytes: 250_000 }, 10, 'x'.repeat(10_000));
    const answers = await Promise.all(Array.from({ length: 5 }, () => page('body')));
    for (const answer of answers) expect(answer.errors).toEqual([]);
  });
});
