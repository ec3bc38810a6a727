// An app of one's own on Fastify, in memory. Prints what RunningApp waits for.
import 'reflect-metadata';
import { ApolloServer, HeaderMap } from '@apollo/server';
import { ApolloDriver } from '@nestjs/apollo';
import { NestFactory } from '@nestjs/core';
import { GraphQLModule } from '@nestjs/graphql';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { SessionsModule } from 'nestjs-agent-sessions';
import { AgentsModule } from 'nestjs-agent-sessions/agents';
import { AgUiModule } from 'nestjs-agent-sessions/ag-ui';
import { SessionsGraphqlModule, sessionsGraphqlOptions } from 'nestjs-agent-sessions/graphql';
import {
  FASTIFY_OPTIONS,
  OpenAccess,
  SessionAccessModule,
  SessionsRestModule,
  limitBodies,
} from 'nestjs-agent-sessions/rest';

/** Instead of `@as-integrations/fastify`, which is not installed. */
class FastifyApollo extends ApolloDriver {
  async registerFastify(options) {
    const server = new ApolloServer(options);
    await server.start();
    this.apolloServer = server;
    const handler = async (request, reply) => {
      const { method, body } = request;
      const httpGraphQLRequest = { method, headers: new HeaderMap(Object.entries(request.headers)), body, search: '' };
      const context = () => options.context(request, reply);
      const answer = await server.executeHTTPGraphQLRequest({ httpGraphQLRequest, context });
      return reply
        .code(answer.status ?? 200)
        .headers(Object.fromEntries(answer.headers))
        .send(answer.body.string);
    };
    this.httpAdapterHost.httpAdapter.getInstance().route({ url: options.path, method: ['POST'], handler });
  }
}

const imports = [
  SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
  AgentsModule.forRoot({ isGlobal: true }),
  SessionAccessModule.forRoot({ access: OpenAccess }),
  SessionsRestModule.forRoot(),
  AgUiModule.forRoot(),
  GraphQLModule.forRoot({ driver: FastifyApollo, ...sessionsGraphqlOptions() }),
  SessionsGraphqlModule.forRoot(),
];
const app = await NestFactory.create({ module: Object, imports }, new FastifyAdapter(FASTIFY_OPTIONS), {
  logger: ['error'],
});
limitBodies(app, { requestTimeoutSeconds: 3600 });
await app.listen(0, '127.0.0.1');
console.log(`listening on ${await app.getUrl()}\ncurl it\n`);
