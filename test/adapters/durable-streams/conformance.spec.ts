import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DurableStreams } from '../../../src/adapters/durable-streams/index.js';
import { SessionService } from '../../../src/index.js';
import type { OpenStorage } from '../../../src/testing/open-storage.js';
import { testStores } from '../../support/stores.js';
import { describeSuite } from '../support/describe-suite.js';
import { loadSuite } from './support/published-suite.js';

const OWNER = { appName: 'suite', userId: 'ann' };
const SUITE = '@durable-streams/server-conformance-tests';
describeSuite(
  { framework: 'Durable Streams', peer: SUITE, suite: SUITE },
  ({ open }) => {
    let opened: OpenStorage;
    let sessions: SessionService;
    let server: Server;
    const target = { baseUrl: '' };

    beforeAll(async () => {
      opened = await open({});
      sessions = new SessionService({ storage: opened.storage });
      const streams = new DurableStreams({
        sessions,
        owner: () => OWNER,
        allowOrigin: '*',
        longPollMs: 400,
        sseMs: 20_000,
      });
      server = createServer((request, response) => void streams.handle(request, response, '/v1/stream/'));
      // The tests keep this process busy for longer than the default, and then use a connection again.
      server.keepAliveTimeout = 60_000;
      await new Promise<void>((resolve) => {
        server.listen(0, '127.0.0.1', resolve);
      });
      target.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    afterAll(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
      await sessions.finish();
      await opened.destroy();
    });

    loadSuite().runConformanceTests(target);
  },
  // It takes a minute in each store, and they differ in time only.
  testStores.filter(({ name }) => process.env.DURABLE_STREAMS === 'all' || name === 'memory'),
);
