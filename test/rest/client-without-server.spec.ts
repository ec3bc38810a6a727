import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { ProblemError, RequestHeadersError, ServerUnreachableError, SessionsClient } from '../../src/client/index.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };

const neverComing = (): Promise<Record<string, string>> => new Promise(() => {});
const answeringNull: typeof fetch = async () => Response.json(null, { status: 502 });

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const nothing = async (): Promise<Response> => new Response(null, { status: 204 });
const page = async (): Promise<Response> => new Response('<html>', { headers: { 'content-type': 'text/html' } });
const signedOut = () => Promise.reject(new Error('signed out'));
const refusing: typeof fetch = async () => Response.json({ code: 'NO', detail: 'no' }, { status: 400 });

function failing(message: string): SessionsClient {
  return new SessionsClient({ url: '/api', retries: 0, fetch: () => Promise.reject(new TypeError(message)) });
}

describe('A client without a server', () => {
  it('says where it asked, why it got no answer, and what to do', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const client = new SessionsClient({ url, retries: 0 });
    for (const call of [
      () => client.getSession(KEY),
      () => client.createSession(KEY),
      () => client.runAgent({ ...KEY, newMessage: 'hi' }),
    ]) {
      const error: unknown = await call().catch((problem: unknown) => problem);
      expect(error).toBeInstanceOf(ServerUnreachableError);
      expect(error).toMatchObject({
        code: 'SERVER_UNREACHABLE',
        outcomeUnknown: false,
        url,
        message: `No answer from ${url} (ECONNREFUSED). Start the server, or give the client the \`url\` of its routes, up to /apps.`,
      });
    }
  });

  it('keeps the errors of requests that were answered, and of what a browser says', async () => {
    const answered = new SessionsClient({ url: '/api', fetch: refusing });
    await expect(answered.getSession(KEY)).rejects.toBeInstanceOf(ProblemError);
    await expect(failing('Failed to fetch').getSession(KEY)).rejects.toThrow('No answer from /api. Start');
    await expect(failing('Load failed').getSession(KEY)).rejects.toThrow('No answer from /api. Start');
    const gateway = new SessionsClient({ url: '/api', retries: 0, fetch: answeringNull });
    await expect(gateway.getSession(KEY)).rejects.toMatchObject({ name: 'ProblemError', status: 502, code: 'UNKNOWN' });
    await expect(failing('x is not a function').getSession(KEY)).rejects.toThrow('x is not a function');
  });

  it('says so of an answer that breaks off', async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{"half":', () => response.destroy());
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = new SessionsClient({ url, retries: 0 });
    await expect(client.getSession(KEY)).rejects.toMatchObject({ code: 'SERVER_UNREACHABLE', url });
    await expect(client.createSession(KEY)).rejects.toMatchObject({
      code: 'SERVER_UNREACHABLE',
      url,
      outcomeUnknown: true,
      message: expect.stringContaining('a write may have happened'),
    });
    server.close();
  });

  it('waits for headers no longer than for an answer, and not after a watch has ended', async () => {
    const client = new SessionsClient({
      url: '/api',
      retries: 0,
      timeoutMs: 10,
      headers: neverComing,
      fetch: refusing,
    });
    await expect(client.getSession(KEY)).rejects.toMatchObject({ name: 'TimeoutError' });
    const watch = client.watch({ ...KEY, afterSeq: 0 });
    const next = watch.next();
    await watch.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it('ends a watch with what is wrong if `headers` fails each time, or gives what HTTP does not allow', async () => {
    for (const headers of [signedOut, () => ({ authorization: 'a\nb' })]) {
      const client = new SessionsClient({ url: '/api', retries: 1, headers, fetch: refusing });
      const watch = client.watch({ ...KEY, afterSeq: 0 });
      await expect(watch.next()).rejects.toMatchObject({ name: 'RequestHeadersError', code: 'REQUEST_HEADERS' });
      await expect(client.getSession(KEY)).rejects.toBeInstanceOf(RequestHeadersError);
    }
    const client = new SessionsClient({ url: '/api', retries: 0, headers: signedOut, fetch: refusing });
    await expect(client.watch({ ...KEY, afterSeq: 0 }).next()).rejects.toThrow(
      'Nothing was sent, because `headers` of the client failed: Error: signed out',
    );
  });

  it('goes on with a watch when `headers` failed once, or could not reach another server for a while', async () => {
    const cut = new TypeError('fetch failed', { cause: new Error('no route') });
    const failures = [new Error('busy'), cut, cut, cut, new Error('busy')];
    const headers = async (): Promise<Record<string, string>> => {
      const failure = failures.shift();
      if (failure) throw failure;
      return {};
    };
    const client = new SessionsClient({ url: '/api', retries: 1, headers, fetch: refusing });
    await expect(client.watch({ ...KEY, afterSeq: 0 }).next()).rejects.toMatchObject({ status: 400, code: 'NO' });
  });

  it('ends a watch with what is wrong if something else answers: nothing, or a page', async () => {
    for (const answering of [nothing, page]) {
      const client = new SessionsClient({ url: '/api', retries: 1, fetch: answering });
      for (const afterSeq of [undefined, 0]) {
        await expect(client.watch({ ...KEY, afterSeq }).next()).rejects.toMatchObject({
          name: 'ProblemError',
          message: expect.stringMatching(/^The response is not .* Check that `url` is the URL of the routes/),
        });
      }
    }
  });

  it('reads nothing of a page that answers in place of a stream', async () => {
    const cancel = jest.fn();
    const endless = async (): Promise<Response> => new Response(new ReadableStream({ cancel }));
    const client = new SessionsClient({ url: '/api', retries: 0, fetch: endless });
    await expect(client.watch({ ...KEY, afterSeq: 0 }).next()).rejects.toThrow('not a stream of events');
    expect(cancel).toHaveBeenCalledTimes(1);
  });
});
