import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Redis } from 'ioredis';
import { createClient } from '../../src/sessions/storage/redis/connect/create-client.js';
import { storeUnavailable } from '../../src/sessions/storage/redis/connect/driver-errors.js';

const SENTINELS = { sentinels: [{ host: '127.0.0.1', port: 1 }], name: 'main' };

describe('the client of a Redis store', () => {
  it('leaves a master when Sentinel announces another one', () => {
    expect(optionsOf({ connection: SENTINELS })).toMatchObject({ failoverDetector: true });
    expect(optionsOf({ connection: { ...SENTINELS, failoverDetector: false } })).toMatchObject({
      failoverDetector: false,
    });
    expect(optionsOf({ url: 'redis://127.0.0.1:1' })).toMatchObject({ failoverDetector: false });
  });

  it('handles a second error of the same connection', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = createClient({ url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}` }) as Redis;
    const errors: string[] = [];
    client.on('error', ({ message }: Error) => errors.push(message));
    void client.connect().catch(() => undefined);
    await once(client, 'connect');
    client.stream.emit('error', new Error('the certificate is for another host'));
    // Without a listener, this would throw.
    client.stream.emit('error', new Error('alert of the server'));
    expect(errors).toEqual(['the certificate is for another host']);
    client.disconnect();
    server.close();
  });

  it('reports that nothing was sent if its connection was closed before the command', () => {
    const error = storeUnavailable(new Error("Stream isn't writeable and enableOfflineQueue options is false"), true);
    expect(error).toMatchObject({
      outcomeUnknown: false,
      message: expect.stringContaining('(connection lost)') as string,
    });
  });

  it.each([
    "Cluster isn't ready and enableOfflineQueue options is false",
    'Connection is closed.',
    'Command aborted due to connection close',
    'Reached the max retries per request limit (which is 0).',
  ])('reports a lost connection for the message of ioredis: %s', (message) => {
    const error = storeUnavailable(new Error(message), true);
    expect(error).toMatchObject({
      outcomeUnknown: true,
      message: expect.stringContaining('(connection lost)') as string,
    });
  });
});

/** The client connects lazily, so no server is needed. */
function optionsOf(options: Parameters<typeof createClient>[0]): unknown {
  const client = createClient(options);
  expect(client).toBeInstanceOf(Redis);
  client.disconnect();
  return client.options;
}
