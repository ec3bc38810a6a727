import { ProblemError, SessionsClient } from '../../src/client/index.js';
import { ERROR_SAMPLES } from '../transports/error-samples.js';
import { type Case, asJson, casesOf } from '../transports/made-cases.js';
import type { Values } from '../transports/made-requests.js';
import { FIXED_ID, OPERATIONS } from '../transports/operations.js';
import { linesOf } from '../transports/recording-service.js';
import { type RestRequest, restRequest } from '../transports/rest-requests.js';
import { ROWS, ROW_NAMES, type RowName } from '../transports/rows.js';
import { KEY, SMALL_EVENT } from '../transports/samples.js';

const URL_OF_ROUTES = 'https://shop.example/api';

/** A client, what it sends, and what it gets. */
class FakeServer {
  readonly sent: RestRequest[] = [];
  answer = (): Response => Response.json({});
  readonly client = new SessionsClient({
    url: URL_OF_ROUTES,
    retries: 0,
    fetch: async (input, { method = '', body, headers } = {}) => {
      const { pathname, searchParams } = new URL(input);
      searchParams.sort();
      const { 'content-type': _type, ...own } = Object.fromEntries(new Headers(headers));
      const given = body === undefined || body === null ? undefined : (JSON.parse(body as string) as unknown);
      const query = searchParams.size === 0 ? '' : `?${searchParams.toString()}`;
      this.sent.push({ method, path: pathname.replace('/api', ''), query, body: given, headers: own });
      return this.answer();
    },
  });
}

const answerOf = (status: number, code: string) => Response.json({ code, detail: code }, { status });

type AnyClient = Readonly<Record<string, (request: Values) => Promise<unknown>>>;

function call(client: SessionsClient, name: RowName, request: Values): Promise<unknown> {
  const { client: how } = OPERATIONS[name];
  if (typeof how === 'function') return how(client, request as never);
  const method = (client as unknown as AnyClient)[name];
  if (!method) throw new Error(`Give the client the method ${name}, or say in the table of operations why not.`);
  return method.call(client, request);
}

const names = ROW_NAMES.filter((name) => ROWS[name].route && typeof OPERATIONS[name].client !== 'string');

describe('the client', () => {
  let server: FakeServer;
  beforeEach(() => {
    server = new FakeServer();
    jest.spyOn(crypto, 'randomUUID').mockReturnValue(FIXED_ID);
  });
  afterEach(() => jest.restoreAllMocks());

  it.each(names)('sends what the route of %s takes, and returns the answer', async (name) => {
    const { answers = (result: unknown) => asJson(result), clientAdds } = OPERATIONS[name];
    for (const { request, reply } of casesOf(name, 'rest')) {
      const answer = JSON.stringify(answers(reply as never, request));
      // It remembers nothing of the case before.
      server = new FakeServer();
      server.answer = () => new Response(answer ?? null, { status: answer === undefined ? 204 : 200 });
      const received = await call(server.client, name, request);
      const { body, ...wanted } = restRequest(ROWS[name], { ...clientAdds, ...request });
      const { body: given, ...sent } = server.sent.at(-1) ?? { body: undefined };
      expect(sent).toEqual(wanted);
      expect(linesOf(given)).toEqual(linesOf(body));
      expect(linesOf(received)).toEqual(linesOf(answer === undefined ? undefined : JSON.parse(answer)));
    }
  });

  it.each(names)('throws the problem with which %s is refused', async (name) => {
    const [{ request }] = casesOf(name, 'rest') as [Case];
    for (const { code, status, message, details } of ERROR_SAMPLES) {
      const problem = { type: 'about:blank', title: 'Title', status, detail: message, code, ...details };
      server.answer = () => Response.json(problem, { status });
      const refused = call(server.client, name, request);
      if (OWN_ANSWERS[name] === code) expect(await refused).toBeUndefined();
      else {
        await expect(refused).rejects.toBeInstanceOf(ProblemError);
        await expect(refused).rejects.toMatchObject({ message, code, status, outcomeUnknown: false, ...details });
      }
    }
  });

  it('tells in reads that may be old the last event of the session that it has seen', async () => {
    const answering = (body: object): void => void (server.answer = () => Response.json(body));
    const told = async (how: { readonly minSeq?: number } = {}): Promise<string> => {
      await server.client.listEvents({ ...KEY, ...how });
      return server.sent.at(-1)?.query ?? '';
    };
    answering({ events: [] });
    expect(await told()).toBe('');
    answering({ ...SMALL_EVENT, seq: 4 });
    await server.client.appendEvent({ ...KEY, event: { author: 'user' } });
    answering({ events: [], lastSeq: 3 });
    expect(await told()).toBe('?minSeq=4');
    expect(await told({ minSeq: 2 })).toBe('?minSeq=4');
    expect(await told({ minSeq: 6 })).toBe('?minSeq=6');
    // What users wrote tells nothing.
    answering({ version: 90, seq: 90 });
    await server.client.getState(KEY);
    answering({ ...KEY, id: KEY.sessionId, version: 7, events: [] });
    await server.client.getSession(KEY);
    await server.client.stateAt({ ...KEY, seq: 1 });
    expect(server.sent.at(-1)?.query).toBe('?minSeq=7&seq=1');
    await server.client.listEvents({ ...KEY, sessionId: 'another' });
    expect(server.sent.at(-1)?.query).toBe('');
    await server.client.deleteSession(KEY);
    answering({ events: [] });
    expect(await told()).toBe('');
  });

  it.each(names)('tells what it has seen in %s if it may be old, and else does not', async (name) => {
    const [{ request }] = casesOf(name, 'rest').slice(-1) as [Case];
    server.answer = () => Response.json({ ...SMALL_EVENT, seq: 4 });
    await server.client.appendEvent({ ...KEY, event: { author: 'user' } });
    server.answer = () => Response.json({ events: [] });
    await call(server.client, name, request).catch(() => undefined);
    expect(/\bminSeq=4\b/.test(server.sent.at(-1)?.query ?? '')).toBe('minSeq' in (ROWS[name].request ?? {}));
  });

  it('asks for a stream with all that it takes', async () => {
    const request = { afterSeq: 3, stateDeltas: true, partials: true };
    const event = { ...SMALL_EVENT, partial: true, position: '3.4-17', offset: 0 };
    server.answer = () => new Response(`id: 3.4-17\ndata: ${JSON.stringify(event)}\n\n`, STREAM);
    const watch = server.client.watch({ ...KEY, ...request });
    expect((await watch.next()).value).toEqual(event);
    await watch.return?.();
    expect(server.sent[0]).toMatchObject({ query: '?afterSeq=3&partials=true&stateDeltas=true' });
  });

  it('looks a few times for a session that is there and cannot be read, and then says so', async () => {
    server.answer = () =>
      server.sent.at(-1)?.method === 'GET' ? answerOf(404, 'SESSION_NOT_FOUND') : answerOf(409, 'SESSION_EXISTS');
    await expect(server.client.getOrCreateSession(KEY)).rejects.toMatchObject({ code: 'SESSION_EXISTS' });
    expect(server.sent).toHaveLength(10);
  });

  it('leaves out of a query what is null', async () => {
    server.answer = () => Response.json({ events: [] });
    await server.client.listEvents({ ...KEY, invocationId: null, cursor: null } as never);
    expect(server.sent.at(-1)?.query).toBe('');
  });

  it('changes state by an event', async () => {
    const { expectedVersion, ...conditions } = { expectedVersion: 7, turn: 't', endTurn: true };
    const changes = { stateDelta: { kept: null }, stateRemovals: ['a'] };
    server.answer = () => Response.json({ seq: 8 });
    await server.client.updateState({ ...KEY, ...changes, ...conditions, expectedVersion });
    const event = { id: FIXED_ID, author: 'system', actions: changes };
    expect(server.sent).toEqual([restRequest(ROWS.appendEvent, { ...KEY, event, expectedVersion, ...conditions })]);
  });
});

const STREAM = { headers: { 'content-type': 'text/event-stream' } };

/** What is missing is no error. */
const OWN_ANSWERS: Partial<Record<RowName, string>> = {
  getSession: 'SESSION_NOT_FOUND',
  getSummary: 'SUMMARY_NOT_FOUND',
};
