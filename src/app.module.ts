import { Module } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { APP_FILTER } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import { TerminusModule } from '@nestjs/terminus';
import { ThrottlerStorageService } from '@nestjs/throttler';
import { AgUiModule } from './adapters/ag-ui/index.js';
import { AgentsModule } from './agents/index.js';
import { AdkRestModule, AgentsRestModule } from './agents/rest/index.js';
import { DEMO_APP } from './app/endpoints.js';
import { DemoAgent } from './app/demo-agent.js';
import { GraphqlOnDemand } from './app/graphql-on-demand.js';
import { HealthController } from './app/health.controller.js';
import { RequestLimit } from './app/request-limit.js';
import { HomeController } from './app/home.controller.js';
import { MetricsController } from './app/metrics.controller.js';
import { searchIfWanted } from './app/search.module.js';
import { type AppConfig, appConfig, sessionsOfApp, summarizerOfApp } from './config/app.config.js';
import { isProduction } from './config/sessions-environment.js';
import { SessionsHealth } from './health/index.js';
import { SessionsModule } from './index.js';
import { SessionsInspectorModule } from './inspector/index.js';
import { ExplorerModule, explorerSettings } from './sessions/graphql/explorer/explorer.module.js';
import { OpenAccess, ProblemFilter, SessionAccessModule, SessionsRestModule } from './sessions/rest/index.js';
import { SummarizerModule } from './summarizer/index.js';
import { SummarizerRestModule } from './summarizer/rest/index.js';

const explorer = explorerSettings(!isProduction(process.env));

/** The app of `npm start`. The environment chooses the store; the default is a SQLite file. */
@Module({
  imports: [
    ConfigModule.forRoot({ isGlobal: true, load: [appConfig, sessionsOfApp, summarizerOfApp] }),
    ScheduleModule.forRoot(),
    SessionsModule.forRootAsync({ ...sessionsOfApp.asProvider(), isGlobal: true }),
    SummarizerModule.forRootAsync({ ...summarizerOfApp.asProvider(), isGlobal: true }),
    AgentsModule.forRoot({ isGlobal: true }),
    SessionAccessModule.forRootAsync({
      inject: [appConfig.KEY],
      useFactory: ({ auth, trustedProxies, audit }: AppConfig) => ({
        ...(auth ? { auth } : { access: OpenAccess }),
        streams: { trustedProxies },
        audit,
      }),
    }),
    SessionsRestModule.forRoot(),
    SessionsInspectorModule.forRootAsync({
      inject: [appConfig.KEY],
      useFactory: ({ hasDemoAgent, hasSearch, port, traceUrl }: AppConfig) => ({
        actions: true,
        search: hasSearch,
        ...(hasDemoAgent && { demoApp: DEMO_APP }),
        ...(traceUrl !== undefined && { traceUrl }),
        // Elsewhere, others read the log than those who can open this address.
        ...(!isProduction(process.env) && port !== 0 && { publicUrl: `http://localhost:${port}/inspector` }),
      }),
    }),
    SummarizerRestModule.forRoot(),
    searchIfWanted,
    AgentsRestModule.forRoot(),
    AdkRestModule.forRoot({ path: 'adk', sessions: true }),
    AgUiModule.forRoot(),
    ...(explorer ? [ExplorerModule.at(explorer)] : []),
    // The indicator logs changes. Logging every failed probe would add nothing.
    TerminusModule.forRoot({ logger: false }),
  ],
  controllers: [HomeController, HealthController, MetricsController],
  providers: [
    DemoAgent,
    SessionsHealth,
    RequestLimit,
    ThrottlerStorageService,
    GraphqlOnDemand,
    // Also for unknown paths and malformed bodies.
    { provide: APP_FILTER, useClass: ProblemFilter },
  ],
})
export class AppModule {}
