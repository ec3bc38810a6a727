import { SessionService } from '../../src/index.js';
import * as sessionErrors from '../../src/sessions/domain/errors/errors.js';
import { SessionSearch } from '../../src/search/index.js';
import { SummarizerSessionManager } from '../../src/summarizer/index.js';
import * as summaryErrors from '../../src/summarizer/summary-errors.js';
import { methodsOf } from '../support/methods-of.js';
import { ERROR_SAMPLES } from '../transports/error-samples.js';
import { type Case, asJson, casesOf } from '../transports/made-cases.js';
import type { Values } from '../transports/made-requests.js';
import { NOT_REMOTE, OPERATIONS, callsFor, methodOf, statusOf } from '../transports/operations.js';
import { RecordingService, linesOf, linesOfCalls } from '../transports/recording-service.js';
import { restRequest } from '../transports/rest-requests.js';
import { AGENT_ROWS, ROWS, ROW_NAMES, type RowName, routeOf } from '../transports/rows.js';
import { ODD_IDS } from '../transports/samples.js';
import { type Answer, RestApp, frameworks } from './rest-app.js';

/** Those that call the service. Streams have tests of their own, and so have agents: test/agents. */
const names = ROW_NAMES.filter((name) => ROWS[name].route && name !== 'streamEvents' && !AGENT_ROWS.includes(name));

describe.each(frameworks)('the operations between REST and the service on %s', (framework) => {
  const service = new RecordingService();
  let app: RestApp;

  beforeAll(async () => {
    app = await RestApp.start(framework, { services: service });
  });
  afterAll(() => app.close());

  const send = (name: RowName, request: Values): Promise<Answer> => {
    const { method, path, query, body, headers } = restRequest(ROWS[name], request);
    return app.request(method, path + query, body, headers);
  };

  it('are all that the app has', () => {
    if (framework === 'Fastify') return;
    const known = ROW_NAMES.filter((name) => !AGENT_ROWS.includes(name)).map((name) => routeOf(ROWS[name]));
    expect(app.routes().toSorted()).toEqual(['GET /apps', ...known.filter((route) => route !== undefined)].toSorted());
  });

  it.each(names)('pass on the requests and the results of %s', async (name) => {
    const { answers = (result: unknown) => asJson(result) } = OPERATIONS[name];
    const [method = ''] = ROWS[name].route?.at.split(' ') ?? [];
    for (const { request, reply } of casesOf(name, 'rest')) {
      service.reply({ [methodOf(name)]: reply });
      const answer = await send(name, request);
      expect(linesOfCalls(service.calls)).toEqual(linesOfCalls(callsFor(name, request)));
      const body = answers(reply as never, request);
      expect([answer.status, linesOf(answer.body)]).toEqual([statusOf(name), linesOf(body ?? {})]);
      expect(tagsOf(answer)).toEqual(tagsFor(answer, method, reply, body));
    }
  });

  it.each(names)('pass on odd ids to %s', async (name) => {
    const [{ request, reply }] = casesOf(name, 'rest').slice(-1) as [Case];
    const place = names.indexOf(name);
    for (let index = place; index < ODD_IDS.length + place; index += 3) {
      const odd = (offset: number): string => ODD_IDS[(index + offset) % ODD_IDS.length] ?? '';
      const ids = { appName: odd(0), userId: odd(1), sessionId: odd(2) };
      const asked = Object.fromEntries(
        Object.entries(request).map(([field, value]) => [field, ids[field as keyof typeof ids] ?? value]),
      );
      service.reply({ [methodOf(name)]: reply });
      await send(name, asked);
      expect(linesOfCalls(service.calls)).toEqual(linesOfCalls(callsFor(name, asked)));
    }
  });

  it.each(names)('pass on the errors of %s', async (name) => {
    const [{ request }] = casesOf(name, 'rest') as [Case];
    for (const [index, { error, code, status, message: detail, details }] of ERROR_SAMPLES.entries()) {
      const isStale = code === 'STALE_SESSION';
      if (!isStale && (index + names.indexOf(name)) % 5 > 0) continue;
      service.reply({ [methodOf(name)]: error });
      const expected = isStale && request.expectedVersion !== undefined ? 412 : status;
      expect(await send(name, request)).toMatchObject({ status: expected, body: { code, detail, ...details } });
    }
  });

  // The service says what is wrong with them, the same on all transports.
  const taking = names.filter((name) => ROWS[name].route?.body && !ROWS[name].route?.body?.is);
  it.each(taking)('leave null in the body of %s to the service', async (name) => {
    const { request: fields = {}, route } = ROWS[name];
    if (route?.prepare) return;
    const optional = Object.entries(fields).filter(([, { isOptional }]) => isOptional);
    for (const { request, reply } of casesOf(name, 'rest')) {
      const asked = { ...request, ...Object.fromEntries(optional.map(([field]) => [field, null])) };
      service.reply({ [methodOf(name)]: reply });
      await send(name, asked);
      expect(linesOfCalls(service.calls)).toEqual(linesOfCalls(callsFor(name, asked)));
    }
  });
});

interface Tagged {
  readonly version?: number;
  readonly seq?: number;
  readonly id?: string;
  readonly events?: readonly { readonly seq: number }[];
}

function tagsOf({ headers }: Answer): object {
  return { etag: headers.get('etag'), location: headers.get('location'), cache: headers.get('cache-control') };
}

/** A session has its version, what was written has its place in the log, and what is new has its address. */
function tagsFor({ status }: Answer, method: string, reply: unknown, body: unknown): object {
  const { version, seq, id, events } = { ...(reply as Tagged), ...(body as Tagged) };
  const last = id === undefined ? events?.at(-1)?.seq : seq;
  const tag = version ?? (method === 'GET' ? undefined : last);
  const isNew = status === 201 && version !== undefined;
  return {
    etag: tag === undefined ? null : `"${tag}"`,
    location: isNew ? expect.stringMatching(`/sessions/${encodeURIComponent(id ?? '')}$`) : null,
    cache: 'no-store',
  };
}

describe('the table of operations', () => {
  it('has every method of the services, or says why no client reaches it', () => {
    const methods = [SessionService, SummarizerSessionManager, SessionSearch].flatMap(methodsOf);
    const called = ROW_NAMES.filter((name) => !AGENT_ROWS.includes(name)).map(methodOf);
    expect([...new Set([...called, ...Object.keys(NOT_REMOTE)])].toSorted()).toEqual([...new Set(methods)].toSorted());
  });
  it('has a sample of every error of the services', () => {
    const classes = Object.values({ ...sessionErrors, ...summaryErrors }).filter(
      (each) => each !== sessionErrors.SessionsError && each.prototype instanceof sessionErrors.SessionsError,
    );
    const sampled = new Set(ERROR_SAMPLES.map(({ error }) => error.constructor));
    expect(classes.filter((each) => !sampled.has(each))).toEqual([]);
    expect(classes.length).toBeGreaterThan(10);
  });
});
