import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DurableStreams } from '../../../../src/adapters/durable-streams/index.js';
import { InMemorySessionStorage, SessionService } from '../../../../src/index.js';

/** Streams of one user behind HTTP. */
export async function served(sessions = new SessionService({ storage: new InMemorySessionStorage() })) {
  const streams = new DurableStreams({
    sessions,
    owner: () => ({ appName: 'shop', userId: 'ann' }),
    longPollMs: 5_000,
  });
  const server = createServer((request, response) => void streams.handle(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => {
      server.close(resolve);
    });
    await sessions.close();
  };
  return { sessions, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
