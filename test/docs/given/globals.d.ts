// What blocks of the docs use without importing it: names that an earlier block of the page imports or its text introduces,
// and what is the reader's own. A block that uses anything else does not compile.

// Of Nest
declare const Injectable: typeof import('@nestjs/common').Injectable;
declare const Module: typeof import('@nestjs/common').Module;
declare const UseGuards: typeof import('@nestjs/common').UseGuards;
declare const Args: typeof import('@nestjs/graphql').Args;
declare const Query: typeof import('@nestjs/graphql').Query;
declare const Resolver: typeof import('@nestjs/graphql').Resolver;
declare const ConfigModule: typeof import('@nestjs/config').ConfigModule;
declare const registerAs: typeof import('@nestjs/config').registerAs;
declare const Test: typeof import('@nestjs/testing').Test;
declare const TypeOrmModule: typeof import('@nestjs/typeorm').TypeOrmModule;
declare const getDataSourceToken: typeof import('@nestjs/typeorm').getDataSourceToken;
declare const getRedisConnectionToken: typeof import('@nestjs-modules/ioredis').getRedisConnectionToken;

// Of drivers and of Node
type DataSource = import('typeorm').DataSource;
declare const Runner: typeof import('@google/adk').Runner;
declare const HumanMessage: typeof import('@langchain/core/messages').HumanMessage;
declare const Agent: typeof import('@openai/agents-core').Agent;
declare const run: typeof import('@openai/agents-core').run;
declare const createClerkClient: typeof import('@clerk/backend').createClerkClient;
declare const StreamableHTTPServerTransport: typeof import('@modelcontextprotocol/sdk/server/streamableHttp.js').StreamableHTTPServerTransport;
type DueTrigger = import('nestjs-agent-sessions/summarizer').DueTrigger;
type SessionKey = import('nestjs-agent-sessions').SessionKey;
type IncomingMessage = import('node:http').IncomingMessage;
type ServerResponse = import('node:http').ServerResponse;
type Redis = import('ioredis').Redis;
declare const Libsql: typeof import('libsql');
declare const readFileSync: typeof import('node:fs').readFileSync;

// Of this package
declare const SessionsModule: typeof import('nestjs-agent-sessions').SessionsModule;
declare const InMemorySessionStorage: typeof import('nestjs-agent-sessions').InMemorySessionStorage;
declare const SESSION_STORAGE: typeof import('nestjs-agent-sessions').SESSION_STORAGE;
declare const sessionsConfig: typeof import('nestjs-agent-sessions/config').sessionsConfig;
declare const sessionsFromEnvironment: typeof import('nestjs-agent-sessions/config').sessionsFromEnvironment;
declare const SESSION_MIGRATIONS: typeof import('nestjs-agent-sessions/typeorm').SESSION_MIGRATIONS;
declare const sessionEntities: typeof import('nestjs-agent-sessions/typeorm').sessionEntities;
declare const SessionAccessModule: typeof import('nestjs-agent-sessions/rest').SessionAccessModule;
declare const SessionsRestModule: typeof import('nestjs-agent-sessions/rest').SessionsRestModule;
declare const clientAccess: typeof import('nestjs-agent-sessions/rest').clientAccess;
declare const GraphqlAccessGuard: typeof import('nestjs-agent-sessions/graphql').GraphqlAccessGuard;
declare const RequireAccess: typeof import('nestjs-agent-sessions/graphql').RequireAccess;
declare const SummarizerModule: typeof import('nestjs-agent-sessions/summarizer').SummarizerModule;
declare const SummarizerSessionManager: typeof import('nestjs-agent-sessions/summarizer').SummarizerSessionManager;
declare const AiSdkSummaryModel: typeof import('nestjs-agent-sessions/summarizer').AiSdkSummaryModel;
declare const ExtractiveSummaryModel: typeof import('nestjs-agent-sessions/summarizer').ExtractiveSummaryModel;
declare const cappedText: typeof import('nestjs-agent-sessions/summarizer').cappedText;
type SummaryModel = import('nestjs-agent-sessions/summarizer').SummaryModel;

declare const SessionService: typeof import('nestjs-agent-sessions').SessionService;
declare const SessionRetention: typeof import('nestjs-agent-sessions').SessionRetention;
declare const renderInstruction: typeof import('nestjs-agent-sessions').renderInstruction;
declare const exportUser: typeof import('nestjs-agent-sessions/transfer').exportUser;
declare const eraseUser: typeof import('nestjs-agent-sessions/transfer').eraseUser;
declare const findErasure: typeof import('nestjs-agent-sessions/transfer').findErasure;
declare const findUser: typeof import('nestjs-agent-sessions/transfer').findUser;
declare const importRecords: typeof import('nestjs-agent-sessions/transfer').importRecords;
declare const adkSessions: typeof import('nestjs-agent-sessions/transfer').adkSessions;
declare const foreignRecords: typeof import('nestjs-agent-sessions/transfer').foreignRecords;
declare const recordsOrBad: typeof import('nestjs-agent-sessions/transfer').recordsOrBad;
declare const importAgentScopeFiles: typeof import('nestjs-agent-sessions/components').importAgentScopeFiles;
declare const importAgentScopeTable: typeof import('nestjs-agent-sessions/components').importAgentScopeTable;
declare const importAgentScopeRedis: typeof import('nestjs-agent-sessions/components').importAgentScopeRedis;
type CreateStorage = import('nestjs-agent-sessions/testing').CreateStorage;
declare const describeSessionStorage: typeof import('nestjs-agent-sessions/testing').describeSessionStorage;
declare const describeSessionService: typeof import('nestjs-agent-sessions/testing').describeSessionService;
declare const sessionsOver: typeof import('nestjs-agent-sessions/testing').sessionsOver;
declare const replaySession: typeof import('nestjs-agent-sessions/testing').replaySession;
declare const ModelRequestPlugin: typeof import('nestjs-agent-sessions/adk').ModelRequestPlugin;
declare const AdkMemoryService: typeof import('nestjs-agent-sessions/adk').AdkMemoryService;
declare const AdkSessionService: typeof import('nestjs-agent-sessions/adk').AdkSessionService;
declare const SessionChatHistory: typeof import('nestjs-agent-sessions/langgraph').SessionChatHistory;
declare const AgentsSession: typeof import('nestjs-agent-sessions/openai-agents').AgentsSession;
declare const BranchedAgentsSession: typeof import('nestjs-agent-sessions/openai-agents').BranchedAgentsSession;
declare const SearchModule: typeof import('nestjs-agent-sessions/search').SearchModule;
declare const SearchGraphqlModule: typeof import('nestjs-agent-sessions/graphql').SearchGraphqlModule;
declare const AgentsGraphqlModule: typeof import('nestjs-agent-sessions/graphql').AgentsGraphqlModule;
declare const SearchRestModule: typeof import('nestjs-agent-sessions/rest').SearchRestModule;
declare const AgentsRestModule: typeof import('nestjs-agent-sessions/rest').AgentsRestModule;
declare const AdkRestModule: typeof import('nestjs-agent-sessions/rest').AdkRestModule;
declare const OpenAccess: typeof import('nestjs-agent-sessions/rest').OpenAccess;
declare const ProblemFilter: typeof import('nestjs-agent-sessions/rest').ProblemFilter;
declare const limitBodies: typeof import('nestjs-agent-sessions/rest').limitBodies;
declare const protectFromOtherSites: typeof import('nestjs-agent-sessions/rest').protectFromOtherSites;
declare const readAudit: typeof import('nestjs-agent-sessions/rest').readAudit;
declare const AgentsModule: typeof import('nestjs-agent-sessions/agents').AgentsModule;
declare const toMessages: typeof import('nestjs-agent-sessions/agents').toMessages;
declare const withOutput: typeof import('nestjs-agent-sessions/agents').withOutput;
type AgentFailedError = import('nestjs-agent-sessions/agents').AgentFailedError;
declare const AgUiModule: typeof import('nestjs-agent-sessions/ag-ui').AgUiModule;
declare const SessionEventStore: typeof import('nestjs-agent-sessions/mcp').SessionEventStore;
declare const SessionsTelemetryModule: typeof import('nestjs-agent-sessions/telemetry').SessionsTelemetryModule;
declare const SessionsInspectorModule: typeof import('nestjs-agent-sessions/inspector').SessionsInspectorModule;
declare const diagnose: typeof import('nestjs-agent-sessions/doctor').diagnose;

// The reader's own
declare const model: import('@langchain/core/language_models/chat_models').BaseChatModel;
declare const graph: import('@langchain/core/runnables').Runnable;
declare const app: import('@nestjs/common').INestApplication;
declare const context: import('@nestjs/common').ExecutionContext;
declare const session: import('nestjs-agent-sessions').Session;
declare const sessions: import('nestjs-agent-sessions').SessionService;
declare const key: import('nestjs-agent-sessions').SessionKey;
declare const storage: import('nestjs-agent-sessions').EncryptedStorage;
declare const components: import('nestjs-agent-sessions/components').ComponentSession;
declare const summaries: import('nestjs-agent-sessions/summarizer').SummarizerSessionManager;
declare const search: import('nestjs-agent-sessions/search').SessionSearch;
declare const dataSource: import('typeorm').DataSource;
declare const pool: import('mysql2/promise').Pool;
declare const redis: import('ioredis').Redis;
declare const queue: import('bullmq').Queue;
declare const dueSince: DueTrigger;
declare const server: import('@modelcontextprotocol/sdk/server/mcp.js').McpServer;
declare const sessionService: import('nestjs-agent-sessions/adk').AdkSessionService;
declare const runner: import('@google/adk').Runner;
declare const agent: never; // of the framework of the page
declare const saver: import('nestjs-agent-sessions/langgraph').SessionSaver;
declare const config: { readonly configurable: { readonly thread_id: string } };
declare const messages: readonly import('@langchain/core/messages').BaseMessage[];
declare const provider: import('@openai/agents-core').ModelProvider;
declare const recorded: import('nestjs-agent-sessions').Session;
declare const agentWithNewPrompt: import('nestjs-agent-sessions/agents').RunHandler;
declare const Support: new () => import('nestjs-agent-sessions/agents').Agent;
declare const PaperSessionStorage: typeof import('./paper-session-storage.js').PaperSessionStorage;
declare const newFolder: () => Promise<string>;
interface Chat {
  readonly id: string;
  readonly user: string;
  readonly startedAt: number;
  readonly said: readonly import('nestjs-agent-sessions/transfer').ForeignEvent[];
}
declare const chats: Chat[];
declare const user: { readonly appName: string; readonly userId: string };
declare const userId: string;
declare const sessionId: string;
declare const threadId: string;
declare const text: string;
declare const order: number;
declare const amount: number;
declare const signal: AbortSignal;
declare const askWith: (
  prompt: {
    readonly messages: readonly object[];
    readonly system?: unknown;
    readonly tools?: unknown;
  },
  signal: AbortSignal,
) => Promise<string>;
declare const publishableKey: string;
declare const jwtKey: string;
declare const AppModule: typeof import('./app.module.js').AppModule;
declare const SignInGuard: new () => import('@nestjs/common').CanActivate;
declare const Secrets: new () => { readonly url: string };
declare const token: () => string;
declare const ask: (prompt: string, signal: AbortSignal) => Promise<string>;
declare const isHarmless: (text: string) => boolean;
declare const withoutCardNumbers: <Line>(line: Line) => Line;
declare const metrics: { observe(ratio: number): void };
