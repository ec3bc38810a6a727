import { ERROR_SAMPLES } from '../transports/error-samples.js';
import { RecordingService, linesOf, linesOfCalls } from '../transports/recording-service.js';
import { KEY, LARGE, SMALL_EVENT, STORED_EVENT } from '../transports/samples.js';
import { type Answer, RestApp, frameworks } from './rest-app.js';
import { ROUTE_CASES } from './route-cases.js';

const STREAM = '/apps/:appName/users/:userId/sessions/:sessionId/events/stream';
const END = new Error('the end');

describe.each(frameworks)('the mapping of routes to the service on %s', (framework) => {
  const service = new RecordingService();
  let app: RestApp;

  beforeAll(async () => {
    app = await RestApp.start(framework, { services: service });
  });

  afterAll(() => app.close());

  const ask = (route: string, query = '', body?: unknown, headers = {}): Promise<Answer> => {
    const [method = '', pattern = ''] = route.split(' ');
    return app.request(method, pathOf(pattern) + query, body, headers);
  };

  it.each(ROUTE_CASES)('maps $route: $title', async (each) => {
    service.reply(each.replies);
    const { status, headers, body } = await ask(each.route, each.query, each.body, each.headers);
    expect(linesOfCalls(service.calls)).toEqual(linesOfCalls(each.calls));
    expect({ status, body: linesOf(body) }).toEqual({ status: each.status, body: linesOf(each.received) });
    for (const [name, value] of Object.entries(each.responseHeaders ?? {})) {
      expect([name, headers.get(name)]).toEqual([name, value]);
    }
  });

  it('converts every error to a problem', async () => {
    for (const { error, code, status, message: detail, details, retryAfter } of ERROR_SAMPLES) {
      service.reply({ getAppState: error });
      const answer = await ask('GET /apps/:appName/state');
      expect(answer).toMatchObject({ status, body: { type: 'about:blank', status, code, detail, ...details } });
      const fields = ['type', 'title', 'status', 'code', 'detail', ...Object.keys(details)];
      expect(Object.keys(answer.body).toSorted()).toEqual(fields.toSorted());
      expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
      const isForNow = status === 503 || code === 'RUN_LIMIT_REACHED';
      expect(answer.headers.get('retry-after')).toBe(retryAfter ?? (isForNow ? '1' : null));
    }
  });

  const begin = { listEvents: { events: [], firstSeq: 1, lastSeq: LARGE } };
  it.each([
    { title: 'the last event', query: '', headers: {}, afterSeq: LARGE },
    { title: 'afterSeq', query: '?afterSeq=3', headers: {}, afterSeq: 3 },
    { title: 'the beginning', query: '?afterSeq=0', headers: {}, afterSeq: 0 },
    { title: 'Last-Event-ID', query: '', headers: { 'last-event-id': '4' }, afterSeq: 4 },
    { title: 'Last-Event-ID before afterSeq', query: '?afterSeq=3', headers: { 'last-event-id': '4' }, afterSeq: 4 },
  ])('stream events after $title', async ({ query, headers, afterSeq }) => {
    service.reply({ ...begin, watch: events(STORED_EVENT, SMALL_EVENT) });
    const { status, text } = await ask(`GET ${STREAM}`, query, undefined, { ...headers, accept: 'text/event-stream' });
    expect(status).toBe(200);
    expect(linesOfCalls(service.calls)).toEqual(
      linesOfCalls([
        { method: 'listEvents', request: { ...KEY, beforeSeq: 1 } },
        { method: 'watch', request: { ...KEY, afterSeq } },
      ]),
    );
    const [first, second, problem] = text.split('\n\n');
    expect(first).toBe(`id: ${LARGE}\ndata: ${JSON.stringify(STORED_EVENT)}`);
    expect(second).toBe(`id: 1\ndata: ${JSON.stringify(SMALL_EVENT)}`);
    expect(problem).toMatch(/^event: problem\ndata: {"type":"about:blank"/);
  });

  it('ends a stream with any error as a problem', async () => {
    for (const { error, code, status, message: detail, details } of ERROR_SAMPLES) {
      service.reply({ ...begin, watch: error });
      const { text } = await ask(`GET ${STREAM}`, '?afterSeq=0');
      const [, data = 'null'] = /^event: problem\ndata: (.*)\n\n$/.exec(text) ?? [];
      expect(JSON.parse(data)).toMatchObject({ type: 'about:blank', status, code, detail, ...details });
    }
  });
});

/** A watch that delivers these events and then fails, so that the response ends. */
async function* events(...items: unknown[]): AsyncGenerator {
  yield* items;
  throw END;
}

function pathOf(pattern: string): string {
  return Object.entries(KEY).reduce((path, [name, id]) => path.replace(`:${name}`, id), pattern);
}
