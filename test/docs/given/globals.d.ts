// What blocks of the docs use without importing it: names that an earlier block of the page imports or its text introduces,
// and what is the reader's own. A block that uses anything else does not compile.

import type { DataSource as Database } from 'typeorm';

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
  type DataSource = Database;
  const Runner: typeof import('@google/adk').Runner;
  const HumanMessage: typeof import('@langchain/core/messages').HumanMessage;
  const Agent: typeof import('@openai/agents-core').Agent;
  const run: typeof import('@openai/agents-core').run;
  const createClerkClient: typeof import('@clerk/backend').createClerkClient;
  const StreamableHTTPServerTransport: typeof import('@modelcontextprotocol/sdk/server/streamableHttp.js').StreamableHTTPServerTransport;
  type DueTrigger = import('nestjs-agent-sessions/summarizer').DueTrigger;
  type SessionKey = import('nestjs-agent-sessions').SessionKey;
  type IncomingMessage = import('node:http').IncomingMessage;
  type ServerResponse = import('node:http').ServerResponse;
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

  const SessionService: typeof import('nestjs-agent-sessions').SessionService;
  const SessionRetention: typeof import('nestjs-agent-sessions').SessionRetention;
  const renderInstruction: typeof import('nestjs-agent-sessions').renderInstruction;
  const exportUser: typeof import('nestjs-agent-sessions/transfer').exportUser;
  const eraseUser: typeof import('nestjs-agent-sessions/transfer').eraseUser;
  const findErasure: typeof import('nestjs-agent-sessions/transfer').findErasure;
  const findUser: typeof import('nestjs-agent-sessions/transfer').findUser;
  const importRecords: typeof import('nestjs-agent-sessions/transfer').importRecords;
  const adkSessions: typeof import('nestjs-agent-sessions/transfer').adkSessions;
  const foreignRecords: typeof import('nestjs-agent-sessions/transfer').foreignRecords;
  const recordsOrBad: typeof import('nestjs-agent-sessions/transfer').recordsOrBad;
  const importAgentScopeFiles: typeof import('nestjs-agent-sessions/components').importAgentScopeFiles;
  const importAgentScopeTable: typeof import('nestjs-agent-sessions/components').importAgentScopeTable;
  const importAgentScopeRedis: typeof import('nestjs-agent-sessions/components').importAgentScopeRedis;
  type CreateStorage = import('nestjs-agent-sessions/testing').CreateStorage;
  const describeSessionStorage: typeof import('nestjs-agent-sessions/testing').describeSessionStorage;
  const describeSessionService: typeof import('nestjs-agent-sessions/testing').describeSessionService;
  const sessionsOver: typeof import('nestjs-agent-sessions/testing').sessionsOver;
  const replaySession: typeof import('nestjs-agent-sessions/testing').replaySession;
  const ModelRequestPlugin: typeof import('nestjs-agent-sessions/adk').ModelRequestPlugin;
  const AdkMemoryService: typeof import('nestjs-agent-sessions/adk').AdkMemoryService;
  const AdkSessionService: typeof import('nestjs-agent-sessions/adk').AdkSessionService;
  const SessionChatHistory: typeof import('nestjs-agent-sessions/langgraph').SessionChatHistory;
  const AgentsSession: typeof import('nestjs-agent-sessions/openai-agents').AgentsSession;
  const BranchedAgentsSession: typeof import('nestjs-agent-sessions/openai-agents').BranchedAgentsSession;
  const SearchModule: typeof import('nestjs-agent-sessions/search').SearchModule;
  const SearchGraphqlModule: typeof import('nestjs-agent-sessions/graphql').SearchGraphqlModule;
  const AgentsGraphqlModule: typeof import('nestjs-agent-sessions/graphql').AgentsGraphqlModule;
  const SearchRestModule: typeof import('nestjs-agent-sessions/rest').SearchRestModule;
  const AgentsRestModule: typeof import('nestjs-agent-sessions/rest').AgentsRestModule;
  const AdkRestModule: typeof import('nestjs-agent-sessions/rest').AdkRestModule;
  const OpenAccess: typeof import('nestjs-agent-sessions/rest').OpenAccess;
  const ProblemFilter: typeof import('nestjs-agent-sessions/rest').ProblemFilter;
  const limitBodies: typeof import('nestjs-agent-sessions/rest').limitBodies;
  const protectFromOtherSites: typeof import('nestjs-agent-sessions/rest').protectFromOtherSites;
  const readAudit: typeof import('nestjs-agent-sessions/rest').readAudit;
  const AgentsModule: typeof import('nestjs-agent-sessions/agents').AgentsModule;
  const toMessages: typeof import('nestjs-agent-sessions/agents').toMessages;
  const withOutput: typeof import('nestjs-agent-sessions/agents').withOutput;
  type AgentFailedError = import('nestjs-agent-sessions/agents').AgentFailedError;
  const AgUiModule: typeof import('nestjs-agent-sessions/ag-ui').AgUiModule;
  const SessionEventStore: typeof import('nestjs-agent-sessions/mcp').SessionEventStore;
  const SessionsTelemetryModule: typeof import('nestjs-agent-sessions/telemetry').SessionsTelemetryModule;
  const SessionsInspectorModule: typeof import('nestjs-agent-sessions/inspector').SessionsInspectorModule;
  const diagnose: typeof import('nestjs-agent-sessions/doctor').diagnose;

  // The reader's own
  const model: import('@langchain/core/language_models/chat_models').BaseChatModel;
  const graph: import('@langchain/core/runnables').Runnable;
  const app: import('@nestjs/common').INestApplication;
  const context: import('@nestjs/common').ExecutionContext;
  const session: import('nestjs-agent-sessions').Session;
  const sessions: import('nestjs-agent-sessions').SessionService;
  const key: import('nestjs-agent-sessions').SessionKey;
  const storage: import('nestjs-agent-sessions').EncryptedStorage;
  const components: import('nestjs-agent-sessions/components').ComponentSession;
  const summaries: import('nestjs-agent-sessions/summarizer').SummarizerSessionManager;
  const search: import('nestjs-agent-sessions/search').SessionSearch;
  const dataSource: import('typeorm').DataSource;
  const pool: import('mysql2/promise').Pool;
  const redis: import('ioredis').Redis;
  const queue: import('bullmq').Queue;
  const dueSince: DueTrigger;
  const server: import('@modelcontextprotocol/sdk/server/mcp.js').McpServer;
  const sessionService: import('nestjs-agent-sessions/adk').AdkSessionService;
  const runner: import('@google/adk').Runner;
  const agent: never; // of the framework of the page
  const saver: import('nestjs-agent-sessions/langgraph').SessionSaver;
  const config: { readonly configurable: { readonly thread_id: string } };
  const messages: readonly import('@langchain/core/messages').BaseMessage[];
  const provider: import('@openai/agents-core').ModelProvider;
  const recorded: import('nestjs-agent-sessions').Session;
  const agentWithNewPrompt: import('nestjs-agent-sessions/agents').RunHandler;
  const Support: new () => import('nestjs-agent-sessions/agents').Agent;
  const PaperSessionStorage: typeof import('./paper-session-storage.js').PaperSessionStorage;
  const newFolder: () => Promise<string>;
  interface Chat {
    readonly id: string;
    readonly user: string;
    readonly startedAt: number;
    readonly said: readonly import('nestjs-agent-sessions/transfer').ForeignEvent[];
  }
  const chats: Chat[];
  const user: { readonly appName: string; readonly userId: string };
  const userId: string;
  const sessionId: string;
  const threadId: string;
  const text: string;
  const order: number;
  const amount: number;
  const signal: AbortSignal;
  const askWith: (
    prompt: {
      readonly messages: readonly object[];
      readonly system?: unknown;
      readonly tools?: unknown;
    },
    signal: AbortSignal,
  ) => Promise<string>;
  const publishableKey: string;
  const jwtKey: string;
  const AppModule: typeof import('./app.module.js').AppModule;
  const SignInGuard: new () => import('@nestjs/common').CanActivate;
  const Secrets: new () => { readonly url: string };
  const token: () => string;
  const ask: (prompt: string, signal: AbortSignal) => Promise<string>;
  const isHarmless: (text: string) => boolean;
  const withoutCardNumbers: <Line>(line: Line) => Line;
  const metrics: { observe(ratio: number): void };
}
