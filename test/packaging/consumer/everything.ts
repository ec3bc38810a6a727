import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ConfigModule } from '@nestjs/config';
import { InjectSessionStorage, SessionService, SessionsModule } from 'nestjs-agent-sessions';
import { type Agent, AgentHandler, AgentsModule, type RunHandler } from 'nestjs-agent-sessions/agents';
import { ComponentSession, ComponentsModule } from 'nestjs-agent-sessions/components';
import { SearchModule } from 'nestjs-agent-sessions/search';
import { type Diagnosis, diagnose } from 'nestjs-agent-sessions/doctor';
import type { SessionStorage } from 'nestjs-agent-sessions/storage';
import { type SessionsConfig, sessionsConfig } from 'nestjs-agent-sessions/config';
import { SessionsClient } from 'nestjs-agent-sessions/client';
import {
  AgentsGraphqlModule,
  SessionsGraphqlModule,
  SearchGraphqlModule,
  SummarizerGraphqlModule,
  sessionsGraphqlOptions,
} from 'nestjs-agent-sessions/graphql';
import { SessionsDoctorHealth, SessionsHealth } from 'nestjs-agent-sessions/health';
import { RedisSessionService } from 'nestjs-agent-sessions/redis';
import { VertexSessionService } from 'nestjs-agent-sessions/vertex';
import {
  AdkRestModule,
  AgentsRestModule,
  OpenAccess,
  SessionsRestModule,
  SearchRestModule,
  SummarizerRestModule,
  mountDocs,
} from 'nestjs-agent-sessions/rest';
import { SummarizerModule } from 'nestjs-agent-sessions/summarizer';
import { type TelemetryOptions, startTelemetry } from 'nestjs-agent-sessions/telemetry';
import { describeSessionStorage } from 'nestjs-agent-sessions/testing';
import { exportSessions } from 'nestjs-agent-sessions/transfer';
import { DatabaseSessionService, SESSION_MIGRATIONS, sessionEntities } from 'nestjs-agent-sessions/typeorm';
import type { ServerOptions } from 'graphql-ws';
import { DataSource } from 'typeorm';

@Injectable()
export class Chat {
  constructor(
    private readonly sessions: SessionService,
    @InjectSessionStorage() readonly storage: SessionStorage,
  ) {}

  async say(text: string): Promise<number> {
    const session = await this.sessions.getOrCreateSession({ appName: 'shop', userId: 'ann', sessionId: 's1' });
    const event = { author: 'user', content: { role: 'user', parts: [{ text }] } };
    const { seq } = await this.sessions.appendEvent({ session, event });
    return seq;
  }
}

@Injectable()
@AgentHandler('shop')
export class Echo implements Agent {
  async *run(): ReturnType<RunHandler> {
    yield { content: { role: 'model', parts: [{ text: 'Hello' }] } };
  }
}

@Module({
  imports: [
    ConfigModule.forRoot({ load: [sessionsConfig] }),
    SessionsModule.forRootAsync({ ...sessionsConfig.asProvider(), name: 'second' }),
    SessionsModule.forRootAsync({
      name: 'third',
      inject: [sessionsConfig.KEY],
      useFactory: (config: SessionsConfig) => config,
    }),
    SessionsModule.forRoot({ provider: 'typeorm', database: { database: ':memory:' }, isGlobal: true }),
    SummarizerModule.forRoot({ events: 40, isGlobal: true }),
    AgentsModule.forRoot({ isGlobal: true }),
    AgentsModule.forFeature([Echo]),
    ComponentsModule.forRoot({ root: './data/components' }),
    SearchModule.forRoot({ isGlobal: true }),
    SessionsRestModule.forRoot({ access: OpenAccess }),
    AgentsRestModule.forRoot({ access: OpenAccess }),
    AdkRestModule.forRoot({ access: OpenAccess }),
    SummarizerRestModule.forRoot({ access: OpenAccess }),
    SearchRestModule.forRoot({ access: OpenAccess }),
    SessionsGraphqlModule.forRoot({ access: OpenAccess }),
    SummarizerGraphqlModule.forRoot({ access: OpenAccess }),
    SearchGraphqlModule.forRoot({ access: OpenAccess }),
    AgentsGraphqlModule.forRoot({ access: OpenAccess }),
  ],
  providers: [Chat, SessionsHealth, SessionsDoctorHealth],
})
export class AppModule {}

export const check = (storage: SessionStorage): Promise<Diagnosis> => diagnose({ storage });

export const services = (): SessionService[] => [
  new RedisSessionService({ url: 'redis://127.0.0.1:6379' }),
  new VertexSessionService({ project: 'p', location: 'us-central1', reasoningEngine: '1' }),
  new DatabaseSessionService({ database: ':memory:' }),
];

/** What graphql-ws calls. */
export const onNext: ServerOptions['onNext'] = sessionsGraphqlOptions().subscriptions['graphql-ws'].onNext;

export const dataSource = new DataSource({
  type: 'postgres',
  entities: [...sessionEntities('postgres')],
  migrations: SESSION_MIGRATIONS,
});

export const suite: (options: Parameters<typeof describeSessionStorage>[0]) => void = describeSessionStorage;

export const telemetry: (options?: TelemetryOptions) => () => void = startTelemetry;

export const lines = (storage: SessionStorage): AsyncIterable<string> => exportSessions(storage);

export const client = new SessionsClient({ url: 'http://localhost:3000' });

export async function run(): Promise<number> {
  const app = await NestFactory.create(AppModule);
  mountDocs(app, { title: 'Chats' });
  await app.get(ComponentSession).save('chat-1', 'mood', 'calm');
  return app.get(Chat).say('hello');
}
