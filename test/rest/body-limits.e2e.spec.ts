import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { until } from '../support/until.js';
import { RestApp, frameworks } from './rest-app.js';

const KIB = 1024;
const SESSION = '/apps/shop/users/ann/sessions/s';
const EVENTS = `${SESSION}/events`;
const eventOf = (length: number): string =>
  JSON.stringify({ author: 'user', customMetadata: { x: 'x'.repeat(length) } });

interface Given {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | number>>;
  /** One of the addresses of this machine. */
  readonly from?: string;
}

async function answerTo(one: ClientRequest): Promise<Record<string, unknown> & { retryAfter?: string | undefined }> {
  const [response] = (await once(one, 'response')) as [IncomingMessage];
  const body = (await json(response)) as Record<string, unknown>;
  return { ...body, retryAfter: response.headers['retry-after'] };
}

describe.each(frameworks)('bodies on %s', (framework) => {
  let app: RestApp;
  const open = new Set<ClientRequest>();

  beforeEach(async () => {
    app = await RestApp.start(framework, {
      bodies: { maxBytesInFlight: 3_000 * KIB, maxBytesInFlightPerAddress: 2_000 * KIB, eventPaths: ['/own/chat'] },
    });
    await app.request('POST', SESSION, {});
  });
  afterEach(async () => {
    for (const one of open) one.destroy();
    open.clear();
    await app.close();
  });

  it('gives a whole request the time that the options say', () => {
    const { requestTimeout, headersTimeout } = app.server;
    expect(requestTimeout).toBe(30_000);
    // With a longer time for the headers, Node gives that time to the whole request.
    expect(headersTimeout).toBe(30_000);
  });

  /** Sends the headers, and the body as far as it is given. Does not end the request. */
  function begin({ path = EVENTS, headers, from = '127.0.0.1' }: Given): ClientRequest {
    const { hostname, port } = new URL(app.url);
    const type = { 'content-type': 'application/json', connection: 'close' };
    const one = request({ hostname, port, path, method: 'POST', localAddress: from, headers: { ...type, ...headers } });
    open.add(one);
    one.on('error', () => undefined);
    one.flushHeaders();
    return one;
  }

  /** An event that declares its length and does not come. The server has seen it when this returns. */
  async function hold(kib: number, from: string): Promise<ClientRequest> {
    const one = begin({ headers: { 'content-length': kib * KIB, expect: '100-continue' }, from });
    await once(one, 'continue');
    return one;
  }

  it.each([EVENTS, '/unknown'])('that are compressed are refused before they are read, at %s', async (path) => {
    const one = begin({ path, headers: { 'content-encoding': 'gzip' } });
    one.write(gzipSync('{').subarray(0, 12));
    expect(await answerTo(one)).toMatchObject({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
  });

  it('may have 256 KiB, and those with events as much as an event', async () => {
    expect(await app.request('POST', EVENTS, eventOf(900 * KIB))).toMatchObject({ status: 201 });
    const large = { toSeq: 0, x: 'x'.repeat(257 * KIB) };
    for (const path of [`${SESSION}/rewind`, '/own/small']) {
      const { status, body } = await app.request('POST', path, large);
      expect({ status, ...body }).toMatchObject({ status: 413, code: 'LIMIT_EXCEEDED' });
    }
    expect(await app.request('POST', `${SESSION}/rewind`, { toSeq: 0, x: 'x'.repeat(200 * KIB) })).toMatchObject({
      status: 400,
    });
    expect(await app.request('POST', '/own/chat?x=1', large)).toMatchObject({ status: 404 });
  });

  it('are counted if they do not say their length', async () => {
    const one = begin({ path: `${SESSION}/rewind`, headers: { 'transfer-encoding': 'chunked' } });
    one.end(JSON.stringify({ toSeq: 0, x: 'x'.repeat(257 * KIB) }));
    expect(await answerTo(one)).toMatchObject({ status: 413, code: 'LIMIT_EXCEEDED' });
    const event = begin({ headers: { 'transfer-encoding': 'chunked' } });
    event.end(eventOf(900 * KIB));
    expect(await answerTo(event)).toMatchObject({ seq: 1 });
  });

  it('of one address have a room of their own', async () => {
    const first = await hold(1_500, '127.0.0.1');
    const refused = begin({ headers: { 'content-length': 900 * KIB } });
    expect(await answerTo(refused)).toMatchObject({ status: 429, code: 'TOO_MANY_REQUESTS', retryAfter: '1' });
    await hold(1_400, '127.0.0.2');
    // The room of all is used up.
    expect(await answerTo(begin({ headers: { 'content-length': 900 * KIB }, from: '127.0.0.3' }))).toMatchObject({
      status: 429,
    });
    first.destroy();
    await until(async () => (await app.request('POST', EVENTS, eventOf(900 * KIB))).status === 201);
  });

  it('leave room when they are answered, and small requests always pass', async () => {
    for (let i = 0; i < 5; i++)
      expect(await app.request('POST', EVENTS, eventOf(900 * KIB))).toMatchObject({ status: 201 });
    await hold(2_000, '127.0.0.1');
    expect(await app.request('GET', SESSION)).toMatchObject({ status: 200 });
  });
});

it('says which options it has', async () => {
  const bodies = { maxBodyBytes: 1 } as object;
  await expect(RestApp.start('Express', { bodies })).rejects.toThrow('limitBodies: maxBodyBytes is no option');
});
