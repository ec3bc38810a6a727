// What blocks of the docs use without importing it: names that an earlier block of the page imports or its text introduces,
// and what is the reader's own. A block that uses anything else does not compile.

import type { User } from './users.js';

declare global {
  // Of Nest
  const Injectable: typeof import('@nestjs/common').Injectable;
  const Module: typeof import('@nestjs/common').Module;
  const UseGuards: typeof import('@nestjs/common').UseGuards;
  const Args: typeof import('@nestjs/graphql').Args;
  const Query: typeof import('@nestjs/graphql').Query;
  const Resolver: typeof import('@nestjs/graphql').Resolver;
  const ConfigModule: typeof import('@nestjs/config').ConfigModule;
  const registerAs: typeof import('@nestjs/config').registerAs;
  const Test: typeof import('@nestjs/testing').Test;
  const TypeOrmModule: typeof import('@nestjs/typeorm').TypeOrmModule;
  const getDataSourceToken: typeof import('@nestjs/typeorm').getDataSourceToken;
  const getRedisConnectionToken: typeof import('@nestjs-modules/ioredis').getRedisConnectionToken;

  // Of drivers and of Node
  type DataSource = import('typeorm').DataSource;
  type Redis = import('ioredis').Redis;
  const Libsql: typeof import('libsql');
  const readFileSync: typeof import('node:fs').readFileSync;

  // Of this package
  const SessionsModule: typeof import('nestjs-agent-sessions').SessionsModule;
  const InMemorySessionStorage: typeof import('nestjs-agent-sessions').InMemorySessionStorage;
  const SESSION_STORAGE: typeof import('nestjs-agent-sessions').SESSION_STORAGE;
  const sessionsConfig: typeof import('nestjs-agent-sessions/config').sessionsConfig;
  const sessionsFromEnvironment: typeof import('nestjs-agent-sessions/config').sessionsFromEnvironment;
  const SESSION_MIGRATIONS: typeof import('nestjs-agent-sessions/typeorm').SESSION_MIGRATIONS;
  const sessionEntities: typeof import('nestjs-agent-sessions/typeorm').sessionEntities;
  const SessionAccessModule: typeof import('nestjs-agent-sessions/rest').SessionAccessModule;
  const SessionsRestModule: typeof import('nestjs-agent-sessions/rest').SessionsRestModule;
  const clientAccess: typeof import('nestjs-agent-sessions/rest').clientAccess;
  const GraphqlAccessGuard: typeof import('nestjs-agent-sessions/graphql').GraphqlAccessGuard;
  const RequireAccess: typeof import('nestjs-agent-sessions/graphql').RequireAccess;
  const SummarizerModule: typeof import('nestjs-agent-sessions/summarizer').SummarizerModule;
  const SummarizerSessionManager: typeof import('nestjs-agent-sessions/summarizer').SummarizerSessionManager;
  const AiSdkSummaryModel: typeof import('nestjs-agent-sessions/summarizer').AiSdkSummaryModel;
  const ExtractiveSummaryModel: typeof import('nestjs-agent-sessions/summarizer').ExtractiveSummaryModel;
  const cappedText: typeof import('nestjs-agent-sessions/summarizer').cappedText;
  type SummaryModel = import('nestjs-agent-sessions/summarizer').SummaryModel;

  // The reader's own
  const model: import('@langchain/core/language_models/chat_models').BaseChatModel;
  const graph: import('@langchain/core/runnables').Runnable;
  const app: import('@nestjs/common').INestApplication;
  const context: import('@nestjs/common').ExecutionContext;
  const session: import('nestjs-agent-sessions').Session;
  const AppModule: typeof import('./app.module.js').AppModule;
  const SignInGuard: new () => import('@nestjs/common').CanActivate;
  const Secrets: new () => { readonly url: string };
  const token: () => string;
  const userOf: (token: unknown) => Promise<User | undefined>;
  const ask: (prompt: string, signal: AbortSignal) => Promise<string>;
  const isHarmless: (text: string) => boolean;
  const withoutCardNumbers: <Line>(line: Line) => Line;
  const metrics: { observe(ratio: number): void };
}
