import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { type INestApplication, Module } from '@nestjs/common';
import { GraphQLModule, GraphQLSchemaHost } from '@nestjs/graphql';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test, type TestingModule } from '@nestjs/testing';
import type { GraphQLSchema } from 'graphql';
import { AgentsGraphqlModule } from '../../src/agents/graphql/index.js';
import { SearchGraphqlModule } from '../../src/search/graphql/index.js';
import {
  OpenAccess,
  SessionsGraphqlModule,
  type SessionsGraphqlOptions,
  type SessionsGraphqlServerOptions,
  limitBodies,
  sessionsGraphqlOptions,
} from '../../src/sessions/graphql/index.js';
import { FASTIFY_OPTIONS, ProblemFilter } from '../../src/sessions/rest/index.js';
import { SummarizerGraphqlModule } from '../../src/summarizer/graphql/index.js';
import type { Framework } from '../rest/rest-app.js';
import { HTTP_APP, HttpApp, type HttpAppOptions, appParts } from '../support/http-app.js';
import { provideFastifyIntegration } from './fastify-apollo.js';
import type { GraphqlProblem } from './remote-error.js';

interface GraphqlAppOptions extends Partial<SessionsGraphqlOptions>, HttpAppOptions {
  /** Default: Express. */
  readonly framework?: Framework;
  readonly server?: SessionsGraphqlServerOptions;
}

/** The response to a request. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly data: Record<string, unknown>;
  readonly errors: readonly GraphqlProblem[];
}

/** An app with the schema of sessions. */
export class GraphqlApp extends HttpApp {
  static async start({
    sessions,
    summarizer,
    search,
    agents,
    services,
    isAccessGlobal,
    server,
    framework = 'Express',
    ...graphql
  }: GraphqlAppOptions = {}): Promise<GraphqlApp> {
    const { access, streams, audit, ...rest }: SessionsGraphqlOptions = { access: OpenAccess, ...graphql };
    const options = { sessions, summarizer, search, agents, services, isAccessGlobal };
    const { imports, ownAccess, hasSummaries, hasSearch } = appParts(options, { access, streams, audit });
    const fields = { ...rest, ...ownAccess };
    @Module({
      imports: [
        ...imports,
        GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, ...sessionsGraphqlOptions(server) }),
        SessionsGraphqlModule.forRoot(fields),
        ...(hasSummaries ? [SummarizerGraphqlModule.forRoot(fields)] : []),
        ...(hasSearch ? [SearchGraphqlModule.forRoot(fields)] : []),
        ...(agents ? [AgentsGraphqlModule.forRoot(fields)] : []),
      ],
    })
    class GraphqlAppModule {}
    const module = await Test.createTestingModule({ imports: [GraphqlAppModule] }).compile();
    const app =
      framework === 'Express' ? module.createNestApplication<NestExpressApplication>(HTTP_APP) : onFastify(module);
    limitBodies(app);
    // A filter of REST for other parts of the app. It must not change errors of GraphQL.
    app.useGlobalFilters(new ProblemFilter());
    await app.listen(0, '127.0.0.1');
    return new GraphqlApp(app, await app.getUrl());
  }

  get schema(): GraphQLSchema {
    return this.app.get(GraphQLSchemaHost).schema;
  }

  get webSocketUrl(): string {
    return `${this.url.replace('http', 'ws')}/graphql`;
  }

  async ask(query: string, variables?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.post(JSON.stringify({ query, variables }), headers);
  }

  /** Uses a new connection, since the server may close a kept one just before it is reused. */
  async post(body: string, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(`${this.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close', ...headers },
      body,
    });
    const text = await response.text();
    const { data, errors } = JSON.parse(text) as Partial<Answer>;
    return { status: response.status, text, data: data ?? {}, errors: errors ?? [] };
  }
}

function onFastify(module: TestingModule): INestApplication {
  provideFastifyIntegration();
  return module.createNestApplication(new FastifyAdapter(FASTIFY_OPTIONS), HTTP_APP);
}
