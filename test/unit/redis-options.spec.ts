import { Redis } from 'ioredis';
import { createClient } from '../../src/sessions/storage/redis/connect/create-client.js';
import { storeUnavailable } from '../../src/sessions/storage/redis/connect/driver-errors.js';

const SENTINELS = { sentinels: [{ host: '127.0.0.1', port: 1 }], name: 'main' };

describe('the client that a Redis store makes', () => {
  it('leaves a master as soon as Sentinel says that there is another one', () => {
    expect(optionsOf({ connection: SENTINELS })).toMatchObject({ failoverDetector: true });
    expect(optionsOf({ connection: { ...SENTINELS, failoverDetector: false } })).toMatchObject({
      failoverDetector: false,
    });
    expect(optionsOf({ url: 'redis://127.0.0.1:1' })).toMatchObject({ failoverDetector: false });
  });

  it('says that it sent nothing where its connection has just been closed', () => {
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
  ])('says that the connection was lost where ioredis says: %s', (said) => {
    const error = storeUnavailable(new Error(said), true);
    expect(error).toMatchObject({
      outcomeUnknown: true,
      message: expect.stringContaining('(connection lost)') as string,
    });
  });
});

/** Nothing is connected before it is needed. */
function optionsOf(options: Parameters<typeof createClient>[0]): unknown {
  const client = createClient(options);
  expect(client).toBeInstanceOf(Redis);
  client.disconnect();
  return client.options;
}
