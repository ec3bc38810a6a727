import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { Module } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { GraphQLModule } from '@nestjs/graphql';
import { ScheduleModule } from '@nestjs/schedule';
import { TerminusModule } from '@nestjs/terminus';
import { ThrottlerModule } from '@nestjs/throttler';
import { HealthController } from './app/health.controller.js';
import { RequestLimitGuard } from './app/request-limit.guard.js';
import { requestLimit } from './app/request-limit.js';
import { appConfig, sessionsOfApp, summarizerOfApp } from './config/app.config.js';
import { isProduction } from './config/presets.js';
import { SessionsHealth } from './health/index.js';
import { SessionsModule } from './index.js';
import { SessionsGraphqlModule, sessionsGraphqlOptions } from './sessions/graphql/index.js';
import { OpenAccess, ProblemFilter, SessionsRestModule } from './sessions/rest/index.js';
import { SummarizerGraphqlModule } from './summarizer/graphql/index.js';
import { SummarizerModule } from './summarizer/index.js';
import { SummarizerRestModule } from './summarizer/rest/index.js';

const graphqlOptions = () => sessionsGraphqlOptions({ introspection: !isProduction(process.env) });

/** The app that `npm start` runs: sessions where the environment says, in a SQLite file unless it does. */
@Module({
  imports: [
    ConfigModule.forRoot({ isGlobal: true, load: [appConfig, sessionsOfApp, summarizerOfApp] }),
    ScheduleModule.forRoot(),
    SessionsModule.forRootAsync({ ...sessionsOfApp.asProvider(), isGlobal: true }),
    SummarizerModule.forRootAsync({ ...summarizerOfApp.asProvider(), isGlobal: true }),
    SessionsRestModule.forRoot({ access: OpenAccess }),
    SummarizerRestModule.forRoot({ access: OpenAccess }),
    GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, ...graphqlOptions() }),
    SessionsGraphqlModule.forRoot({ access: OpenAccess, explorer: !isProduction(process.env) }),
    SummarizerGraphqlModule.forRoot({ access: OpenAccess }),
    ThrottlerModule.forRootAsync({ inject: [appConfig.KEY], useFactory: requestLimit }),
    // The indicator says what changed; a line for every probe that fails would say no more.
    TerminusModule.forRoot({ logger: false }),
  ],
  controllers: [HealthController],
  providers: [
    SessionsHealth,
    { provide: APP_GUARD, useClass: RequestLimitGuard },
    // Also for what no controller sees: unknown paths, bodies that cannot be read.
    { provide: APP_FILTER, useClass: ProblemFilter },
  ],
})
export class AppModule {}
