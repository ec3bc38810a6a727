import { describeMappings } from '../transports/describe-mappings.js';
import { RecordingService } from '../transports/recording-service.js';
import { frameworks } from '../rest/rest-app.js';
import { GraphqlApp } from './graphql-app.js';
import { graphqlMappings } from './graphql-mappings.js';
import { RemoteError } from './remote-error.js';

for (const framework of frameworks) {
  describeMappings({
    name: `GraphQL on ${framework}`,
    without: 'notOverGraphql',
    // One filter translates errors for both frameworks, and all of them are sent on Express.
    oneErrorOf: framework === 'Express' ? 1 : 5,
    async start() {
      const service = new RecordingService();
      const app = await GraphqlApp.start({ services: service, framework });
      const { close, ...mappings } = graphqlMappings(app);
      return {
        service,
        mappings,
        async close() {
          await close();
          await app.close();
        },
      };
    },
    expected: ({ code, status, message, details }) => ({ message, code, status, ...details }),
    shown: (error) => (error instanceof RemoteError ? { ...error, message: error.message } : error),
  });
}
