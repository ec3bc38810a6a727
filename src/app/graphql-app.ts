import type { Server } from 'node:http';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, type ModuleRef, NestFactory } from '@nestjs/core';
import { GraphQLModule } from '@nestjs/graphql';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AgentsGraphqlModule } from '../agents/graphql/index.js';
import { AgentRegistry, AgentSessions } from '../agents/index.js';
import { type AppConfig, appConfig } from '../config/app.config.js';
import { isProduction } from '../config/sessions-environment.js';
import { SessionService } from '../index.js';
import { SearchGraphqlModule } from '../search/graphql/index.js';
import { SessionSearch } from '../search/index.js';
import { SessionsGraphqlModule, sessionsGraphqlOptions } from '../sessions/graphql/index.js';
import { ProblemFilter, SessionAccess } from '../sessions/rest/index.js';
import { STREAM_LIMITS } from '../sessions/transport/access-checks.js';
import { findClientAddress } from '../sessions/transport/client-address.js';
import type { StreamLimits } from '../sessions/transport/stream-limits.js';
import { SummarizerGraphqlModule } from '../summarizer/graphql/index.js';
import { SummarizerSessionManager } from '../summarizer/index.js';
import { FieldLimitGuard } from './field-limit.guard.js';
import { RequestLimit } from './request-limit.js';

/** What the fields use of the app. Nest calls hooks of values too, so none of these may have hooks. */
export function sharedServices({ hasSearch }: Pick<AppConfig, 'hasSearch'>): Type[] {
  const services = [SessionService, SummarizerSessionManager, AgentRegistry, AgentSessions, RequestLimit];
  return hasSearch ? [...services, SessionSearch] : services;
}

/** An app that serves `/graphql` alone. It does not listen: its server gets requests of another one. */
export interface GraphqlApp {
  readonly server: Server;
  close(): Promise<void>;
}

/** @param app finds what the app of `npm start` provides */
export async function createGraphqlApp(app: ModuleRef): Promise<GraphqlApp> {
  const graphql = await NestFactory.create<NestExpressApplication>(GraphqlAppModule.over(app), {
    abortOnError: false,
    // The other app has parsed them.
    bodyParser: false,
  });
  graphql.disable('x-powered-by');
  await graphql.init();
  return { server: graphql.getHttpServer(), close: () => graphql.close() };
}

@Module({})
class GraphqlAppModule {
  static over(app: ModuleRef): DynamicModule {
    const find = { strict: false };
    const config = app.get<AppConfig>(appConfig.KEY, find);
    const services = sharedServices(config);
    const rule = { access: app.get(SessionAccess, find), streams: app.get<StreamLimits>(STREAM_LIMITS, find) };
    return {
      module: GraphqlAppModule,
      global: true,
      imports: [
        GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, ...graphqlOptions(config) }),
        SessionsGraphqlModule.forRoot(rule),
        SummarizerGraphqlModule.forRoot(rule),
        AgentsGraphqlModule.forRoot(rule),
        ...(config.hasSearch ? [SearchGraphqlModule.forRoot(rule)] : []),
      ],
      providers: [
        ...services.map((service) => ({ provide: service, useValue: app.get<object>(service, find) })),
        { provide: APP_GUARD, useClass: FieldLimitGuard },
        { provide: APP_FILTER, useClass: ProblemFilter },
      ],
      exports: services,
    };
  }
}

function graphqlOptions({ allowedOrigins: origins, trustedProxies }: AppConfig) {
  return sessionsGraphqlOptions({
    introspection: !isProduction(process.env),
    origins,
    limits: { maxConnectionsPerAddress: 100 },
    addressOf: (request) => findClientAddress(request, trustedProxies),
  });
}
