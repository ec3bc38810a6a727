import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { ProblemError, ServerUnreachableError, SessionsClient } from '../../src/client/index.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

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
    await expect(failing('x is not a function').getSession(KEY)).rejects.toThrow('x is not a function');
  });
});
