import type { Server } from 'node:http';
import { promisify } from 'node:util';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { type INestApplication, Module } from '@nestjs/common';
import { GraphQLModule, GraphQLSchemaHost } from '@nestjs/graphql';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test, type TestingModule } from '@nestjs/testing';
import type { GraphQLSchema } from 'graphql';
import { SessionService, SessionsModule, type SessionsModuleOptions } from '../../src/index.js';
import {
  OpenAccess,
  SESSIONS_BODY_LIMIT,
  SessionAccessModule,
  SessionsGraphqlModule,
  type SessionsGraphqlOptions,
  type SessionsGraphqlServerOptions,
  sessionsGraphqlOptions,
} from '../../src/sessions/graphql/index.js';
import { FASTIFY_OPTIONS, ProblemFilter } from '../../src/sessions/rest/index.js';
import { SummarizerGraphqlModule } from '../../src/summarizer/graphql/index.js';
import { SummarizerModule, type SummarizerOptions, SummarizerSessionManager } from '../../src/summarizer/index.js';
import type { Framework } from '../rest/rest-app.js';
import { type GivenServices, givenServices } from '../support/given-services.js';
import { provideFastifyIntegration } from './fastify-apollo.js';
import type { GraphqlProblem } from './remote-error.js';

interface GraphqlAppOptions extends Partial<SessionsGraphqlOptions> {
  readonly sessions?: Partial<SessionsModuleOptions>;
  /** With the fields of summaries. */
  readonly summarizer?: SummarizerOptions;
  /** By one rule for the whole app, not one for each module of fields. */
  readonly isAccessGlobal?: boolean;
  /** In place of the services that the options above would make. */
  readonly services?: GivenServices;
  /** Default: Express. */
  readonly framework?: Framework;
  readonly server?: SessionsGraphqlServerOptions;
}

/** What a request was answered. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly data: Record<string, unknown>;
  readonly errors: readonly GraphqlProblem[];
}

/** The client of the tests opens connections ahead, which nobody would close. */
const OPTIONS = { logger: false, forceCloseConnections: true } as const;

/** An app with the schema of sessions, listening on a port of its own. */
export class GraphqlApp {
  private constructor(
    private readonly app: INestApplication,
    readonly url: string,
  ) {}

  static async start({
    sessions,
    summarizer,
    services,
    server,
    framework = 'Express',
    isAccessGlobal = false,
    ...graphql
  }: GraphqlAppOptions = {}): Promise<GraphqlApp> {
    const options = { provider: 'memory', isGlobal: true, ...sessions } as const;
    const { access, streams, ...rest }: SessionsGraphqlOptions = { access: OpenAccess, ...graphql };
    const rule = access && { access, streams };
    const fields = { ...rest, ...(isAccessGlobal ? {} : rule) };
    const ofApp = isAccessGlobal && rule ? [SessionAccessModule.forRoot(rule)] : [];
    const ofSummaries = summarizer && [SummarizerModule.forRoot({ ...summarizer, isGlobal: true })];
    const ofServices = services ? [givenServices(services)] : [SessionsModule.forRoot(options), ...(ofSummaries ?? [])];
    const hasSummaries = summarizer !== undefined || services?.summaries !== undefined;
    @Module({
      imports: [
        ...ofServices,
        GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, ...sessionsGraphqlOptions(server) }),
        ...ofApp,
        SessionsGraphqlModule.forRoot(fields),
        ...(hasSummaries ? [SummarizerGraphqlModule.forRoot(fields)] : []),
      ],
    })
    class GraphqlAppModule {}
    const module = await Test.createTestingModule({ imports: [GraphqlAppModule] }).compile();
    const app = framework === 'Express' ? onExpress(module) : onFastify(module);
    // Of REST, for whatever else the app has: it must not get in the way.
    app.useGlobalFilters(new ProblemFilter());
    await app.listen(0, '127.0.0.1');
    return new GraphqlApp(app, await app.getUrl());
  }

  get sessions(): SessionService {
    return this.app.get(SessionService);
  }

  get summaries(): SummarizerSessionManager {
    return this.app.get(SummarizerSessionManager, { strict: false });
  }

  get schema(): GraphQLSchema {
    return this.app.get(GraphQLSchemaHost).schema;
  }

  get webSocketUrl(): string {
    return `${this.url.replace('http', 'ws')}/graphql`;
  }

  /** How many connections the server has. */
  async connections(): Promise<number> {
    const server = this.app.getHttpServer() as Server;
    return promisify(server.getConnections.bind(server))();
  }

  async ask(query: string, variables?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.post(JSON.stringify({ query, variables }), headers);
  }

  /** On a connection of its own: one that was kept may be closed by the server just when it is used again. */
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

  async close(): Promise<void> {
    await this.app.close();
  }
}

function onExpress(module: TestingModule): INestApplication {
  const app = module.createNestApplication<NestExpressApplication>(OPTIONS);
  app.useBodyParser('json', { limit: SESSIONS_BODY_LIMIT });
  return app;
}

function onFastify(module: TestingModule): INestApplication {
  provideFastifyIntegration();
  return module.createNestApplication(new FastifyAdapter(FASTIFY_OPTIONS), OPTIONS);
}
