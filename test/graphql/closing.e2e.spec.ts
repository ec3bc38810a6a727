import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { type INestApplication, Module } from '@nestjs/common';
import { GraphQLModule } from '@nestjs/graphql';
import { Test } from '@nestjs/testing';
import { SessionService, SessionsModule } from '../../src/index.js';
import { OpenAccess, SessionsGraphqlModule, sessionsGraphqlOptions } from '../../src/sessions/graphql/index.js';
import { SessionsRestModule } from '../../src/sessions/rest/index.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };

/** How long Apollo waits for open connections when it stops. */
const APOLLO_GRACE_MS = 10_000;

const graphql = GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, ...sessionsGraphqlOptions() });
const graphqlOfTheApp = GraphQLModule.forRoot<ApolloDriverConfig>({
  driver: ApolloDriver,
  typeDefs: 'type Query { a: Int }',
});
const fields = SessionsGraphqlModule.forRoot({ access: OpenAccess });
const routes = SessionsRestModule.forRoot({ access: OpenAccess });

describe('shutdown of an app with GraphQL and a stream over REST', () => {
  it.each([
    { title: 'GraphQL first', imports: [graphql, fields, routes] },
    { title: 'GraphQL last', imports: [routes, fields, graphql] },
    { title: 'GraphQL of its own', imports: [routes, graphqlOfTheApp] },
  ])('does not wait for readers of the stream: $title', async ({ imports }) => {
    @Module({ imports: [SessionsModule.forRoot({ provider: 'memory', isGlobal: true }), ...imports] })
    class AppModule {}
    const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
    const app: INestApplication = module.createNestApplication({ logger: false });
    await app.listen(0, '127.0.0.1');
    await app.get(SessionService).createSession(KEY);
    const stream = await fetch(`${await app.getUrl()}/apps/shop/users/ann/sessions/s/events/stream`);
    const startedAt = performance.now();
    await Promise.all([stream.text(), app.close()]);
    expect(performance.now() - startedAt).toBeLessThan(APOLLO_GRACE_MS);
  });
});
