import type { INestApplication } from '@nestjs/common';
import type { Server } from 'node:http';
import { ProblemError, SessionsClient } from '../../src/client/index.js';
import { FIXED_ID, clientMappings } from '../transports/client-mappings.js';
import { describeMappings, describeOperations } from '../transports/describe-mappings.js';
import { RecordingService } from '../transports/recording-service.js';
import { RestApp, frameworks } from './rest-app.js';

describeOperations();

/** Reuses kept connections, even if the test was interrupted for long. */
function keepConnections(app: INestApplication): void {
  (app.getHttpServer() as Server).keepAliveTimeout = 0;
}

for (const framework of frameworks) {
  describeMappings({
    name: `REST on ${framework}`,
    without: 'notOverClient',
    // One filter translates errors for both frameworks, and all of them are sent on Express.
    oneErrorOf: framework === 'Express' ? 1 : 5,
    async start() {
      const service = new RecordingService();
      const app = await RestApp.start(framework, { services: service, prepare: keepConnections });
      const randomUuid = jest.spyOn(crypto, 'randomUUID').mockReturnValue(FIXED_ID);
      const client = new SessionsClient({ url: app.url, retries: 0 });
      return {
        service,
        mappings: clientMappings(client),
        async close() {
          randomUuid.mockRestore();
          await app.close();
        },
      };
    },
    expected({ code, status, message, details }, request) {
      // With an expected version, the request has a condition.
      const isOnCondition = code === 'STALE_SESSION' && 'expectedVersion' in request;
      return {
        name: 'ProblemError',
        code,
        status: isOnCondition ? 412 : status,
        message,
        path: undefined,
        currentVersion: undefined,
        eventId: undefined,
        eventIds: undefined,
        holder: undefined,
        expiresAt: undefined,
        budget: undefined,
        reason: undefined,
        retryable: undefined,
        invocationId: undefined,
        outcomeUnknown: false,
        ...details,
      };
    },
    shown(error) {
      if (!(error instanceof ProblemError)) return error;
      const { name, message, status, retryAfterMs: _pause, ...fields } = error;
      return { name, message, status, ...fields };
    },
  });
}
