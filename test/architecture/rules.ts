/** In `mayImport`: what the package exports, in the files of `publicFiles`, except those of its own kind. Authors outside have the same names. */
export const PUBLIC_NAMES = 'public names';

/** A part of `src` and the parts it may import, besides itself. */
export interface Layer {
  /** `$1` is the group that `files` captures, so that one rule describes a layer per folder. */
  readonly name: string;
  /** Matches paths relative to `src`. The first layer that matches a file owns it. */
  readonly files: RegExp;
  readonly mayImport: readonly string[] | 'everything';
  /** Which packages it may import; any, where this is not given. */
  readonly packages?: RegExp;
  /** Its folders, which `files` captures. A folder may import those that stand before it. */
  readonly foldersInOrder?: readonly string[];
}

const nodeBuiltins = /^node:/;
const noPackage = /^$/;

const domain = ['sessions/errors', 'sessions/domain'];
const pureLayers = ['config', 'state', ...domain];
const sessionLayers = [
  ...pureLayers,
  'sessions/storage',
  'sessions/environment',
  'sessions/reads',
  'sessions/leases',
  'sessions/operations',
  'sessions/consumers',
  'sessions/tracing',
  'sessions',
];
const agentRooms = ['agents/errors', 'agents/turn', 'agents/invocation', 'agents/ask'];
const readyMadeServices = ['in-memory service', 'database service', 'redis service', 'vertex service'];
const providers = [
  'sessions/storage/in-memory',
  'sessions/storage/typeorm',
  'sessions/storage/redis',
  'sessions/storage/vertex',
];

/** What `npm start` runs: not part of the package, and free to use what it has installed. */
export const appFiles = /^((main|app\.module)|app\/.+)\.ts$/;

export const layers: readonly Layer[] = [
  { name: 'app', files: appFiles, mayImport: 'everything' },
  {
    name: 'entry points',
    files: /^(index|storage|typeorm|redis|vertex)\.ts$/,
    mayImport: [
      ...sessionLayers,
      ...providers,
      ...readyMadeServices,
      'sessions/writes',
      'sessions/encryption',
      'sessions/module',
      'sessions/transport',
    ],
  },
  // All that is served over HTTP, by protocol.
  {
    name: 'surfaces',
    files: /^(rest|graphql)\.ts$/,
    mayImport: [
      'openapi',
      ...['sessions', 'agents', 'summarizer', 'search'].flatMap((part) => [`${part}/rest`, `${part}/graphql`]),
    ],
  },
  {
    name: 'testing',
    files: /^testing\/.+$/,
    mayImport: [...sessionLayers, ...providers, ...readyMadeServices, 'agents', ...agentRooms],
  },
  {
    name: 'inspector',
    files: /^inspector\/.+$/,
    mayImport: ['config', 'sessions/domain', 'sessions/transport'],
    packages: /^(@nestjs\/(common|core)|node:.+)$/,
  },
  // Loaded by the Nest CLI, which has no package of the app.
  { name: 'schematics', files: /^schematics\/.+$/, mayImport: [], packages: noPackage },
  // Runs in browsers, and so does all that it reaches.
  {
    name: 'client',
    files: /^client\/.+$/,
    mayImport: [...domain, 'state', 'sessions/operations', 'summarizer/summary', 'search/found'],
    packages: noPackage,
  },
  {
    name: 'summarizer/models',
    files: /^summarizer\/models\/.+$/,
    mayImport: ['config', ...domain],
    packages: /^(node:.+|ai|@ai-sdk\/openai-compatible)$/,
  },
  // What a summary is and when the next one comes, for all who show it.
  {
    name: 'summarizer/summary',
    files: /^summarizer\/(session-summary|summary-outlook)\.ts$/,
    mayImport: domain,
    packages: noPackage,
  },
  {
    name: 'summarizer/surface',
    files: /^summarizer\/surface\/.+$/,
    mayImport: ['summarizer', 'summarizer/summary', ...domain, 'sessions/transport', 'sessions/surface'],
    packages: noPackage,
  },
  {
    name: 'summarizer/rest',
    files: /^summarizer\/rest\/.+$/,
    mayImport: ['summarizer/surface', 'sessions/rest'],
  },
  {
    name: 'summarizer/graphql',
    files: /^summarizer\/graphql\/.+$/,
    mayImport: ['summarizer/surface', 'sessions/transport', 'sessions/graphql'],
  },
  {
    name: 'summarizer',
    files: /^summarizer\/.+$/,
    mayImport: [...sessionLayers, 'sessions/module', 'summarizer/models', 'summarizer/summary'],
  },
  // What agents of all models have in common.
  {
    name: 'agents/messages',
    files: /^agents\/messages\/.+$/,
    mayImport: domain,
    packages: noPackage,
  },
  {
    name: 'agents/surface',
    files: /^agents\/surface\/.+$/,
    mayImport: ['agents', ...agentRooms, ...domain, 'sessions/transport', 'sessions/surface'],
    packages: noPackage,
  },
  {
    name: 'agents/rest',
    files: /^agents\/rest\/.+$/,
    mayImport: [
      'agents',
      ...agentRooms,
      'agents/surface',
      ...domain,
      'sessions/transport',
      'sessions/surface',
      'sessions/rest',
      'sessions',
    ],
  },
  {
    name: 'agents/graphql',
    files: /^agents\/graphql\/.+$/,
    mayImport: [
      'agents',
      ...agentRooms,
      'agents/surface',
      ...domain,
      'sessions/transport',
      'sessions/surface',
      'sessions/graphql',
    ],
  },
  // The rooms of a run. Each imports only those above it here.
  { name: 'agents/errors', files: /^agents\/errors\/.+$/, mayImport: domain },
  { name: 'agents/turn', files: /^agents\/turn\/.+$/, mayImport: [...sessionLayers, 'agents/errors'] },
  {
    name: 'agents/invocation',
    files: /^agents\/invocation\/.+$/,
    mayImport: [...sessionLayers, 'agents/errors', 'agents/turn', 'agents/messages'],
  },
  {
    name: 'agents/ask',
    files: /^agents\/ask\/.+$/,
    mayImport: [...sessionLayers, 'agents/errors', 'agents/turn', 'agents/invocation'],
  },
  {
    name: 'agents',
    files: /^agents\/.+$/,
    mayImport: [...sessionLayers, 'sessions/module', 'sessions/transport', ...agentRooms, 'agents/messages'],
  },
  // The state of components, beside sessions: in files, or in the store of the sessions.
  {
    name: 'components',
    files: /^components\/.+$/,
    mayImport: [...sessionLayers, 'sessions/storage/in-memory', 'sessions/module'],
  },
  // Finds events by their words, by an index in the store of the sessions, or by reading logs.
  { name: 'search/found', files: /^search\/found-events\.ts$/, mayImport: domain, packages: noPackage },
  {
    name: 'search/surface',
    files: /^search\/surface\/.+$/,
    mayImport: ['search', 'search/found', 'sessions/operations', 'sessions/surface'],
    packages: noPackage,
  },
  { name: 'search/rest', files: /^search\/rest\/.+$/, mayImport: ['search/surface', 'sessions/rest'] },
  {
    name: 'search/graphql',
    files: /^search\/graphql\/.+$/,
    mayImport: ['search/surface', 'sessions/transport', 'sessions/graphql'],
  },
  { name: 'search', files: /^search\/.+$/, mayImport: [...sessionLayers, 'sessions/module', 'search/found'] },
  // The command line.
  {
    name: 'cli',
    files: /^cli\/.+$/,
    mayImport: [
      'sessions/encryption',
      ...sessionLayers,
      'sessions/module',
      'sessions/storage/in-memory',
      'components',
      'search',
      'doctor',
      'transfer',
      'inspector',
      'sessions/auth',
      // `audit` reads its table without the packages that routes need.
      'sessions/transport',
      'sessions/rest',
    ],
  },
  // Read other systems, as importers outside do. Adapters say how their events look, in files that need no framework.
  {
    name: 'transfer/from',
    files: /^transfer\/from\/.+$/,
    mayImport: [PUBLIC_NAMES, 'transfer/records', 'adapters/langgraph', 'adapters/openai-agents'],
    packages: nodeBuiltins,
  },
  // What importers make, for everybody.
  {
    name: 'transfer/records',
    files: /^transfer\/(transfer-(records|errors)|foreign-(log|session))\.ts$/,
    mayImport: sessionLayers,
    packages: nodeBuiltins,
  },
  // Moves sessions between stores, through the interface of stores.
  {
    name: 'transfer',
    files: /^transfer\/.+$/,
    mayImport: [...sessionLayers, 'sessions/retention', 'sessions/erasures', 'transfer/records', 'transfer/from'],
    packages: nodeBuiltins,
  },
  // Finds what is wrong in a store, for any app and for the command line.
  {
    name: 'doctor',
    files: /^doctor\/.+$/,
    mayImport: [
      ...pureLayers,
      'sessions/storage',
      'sessions/encryption',
      'sessions/operations',
      'sessions/environment',
      'sessions',
    ],
    packages: nodeBuiltins,
  },
  // Other frameworks on sessions, one per folder. None imports another one, and none knows more than an adapter of somebody else.
  { name: 'adapters/shared', files: /^adapters\/shared\/.+$/, mayImport: [PUBLIC_NAMES], packages: noPackage },
  { name: 'adapters/$1', files: /^adapters\/([^/]+)\/.+$/, mayImport: [PUBLIC_NAMES, 'adapters/shared'] },
  {
    name: 'adapter',
    files: /^adapter\.ts$/,
    mayImport: [...sessionLayers, 'agents/messages', 'sessions/transport', 'sessions/rest'],
    packages: noPackage,
  },
  // Spans and metrics of what the channels tell.
  {
    name: 'telemetry',
    files: /^telemetry\/.+$/,
    mayImport: ['config', 'sessions/domain', 'sessions/tracing'],
    packages: /^(@nestjs\/common|@opentelemetry\/api|node:.+)$/,
  },
  // Tells whether sessions can be read and written, for any app.
  { name: 'health', files: /^health\/.+$/, mayImport: [...sessionLayers, 'sessions/module', 'doctor'] },
  // One page for all routes that an app has mounted.
  { name: 'openapi', files: /^openapi\/.+$/, mayImport: ['config', 'state', 'sessions/module', 'sessions/transport'] },
  { name: 'config', files: /^config\/.+$/, mayImport: [] },
  {
    name: 'sessions/errors',
    files: /^sessions\/domain\/errors\/errors\.ts$/,
    mayImport: [],
    packages: noPackage,
  },
  { name: 'state', files: /^state\/.+$/, mayImport: ['sessions/errors'], packages: noPackage },
  {
    name: 'sessions/domain',
    files: /^sessions\/domain\/([^/]+)\/.+$/,
    mayImport: ['sessions/errors', 'state', 'config'],
    packages: nodeBuiltins,
    foldersInOrder: [
      'errors',
      'process',
      'values',
      'metadata',
      'event',
      'usage',
      'stored',
      'view',
      'session',
      'write',
      'search',
      'history',
      'retention',
      'background',
    ],
  },
  // A replica of a managed session is a log in memory.
  {
    name: 'sessions/storage/vertex',
    files: /^sessions\/storage\/vertex\/.+$/,
    mayImport: ['sessions/storage', 'sessions/storage/in-memory', 'sessions/writes', ...domain, 'state', 'config'],
  },
  {
    name: 'sessions/storage/$1',
    files: /^sessions\/storage\/([^/]+)\/.+$/,
    mayImport: [
      'sessions/storage',
      'sessions/writes',
      'sessions/coordination',
      'sessions/reads',
      ...domain,
      'state',
      'config',
    ],
  },
  // Where reads go that may be a little old.
  {
    name: 'sessions/reads',
    files: /^sessions\/reads\/.+$/,
    mayImport: ['sessions/storage', ...domain],
    packages: nodeBuiltins,
  },
  // Decides what is written, for all stores.
  {
    name: 'sessions/writes',
    files: /^sessions\/writes\/.+$/,
    mayImport: ['sessions/storage', 'sessions/coordination', ...domain, 'state', 'config'],
    packages: noPackage,
  },
  // Encrypts what goes into a store.
  {
    name: 'sessions/encryption',
    files: /^sessions\/encryption\/.+$/,
    mayImport: ['sessions/storage', ...pureLayers],
    packages: nodeBuiltins,
  },
  // Leases, the agenda and the work of consumers, for all stores.
  {
    name: 'sessions/coordination',
    files: /^sessions\/coordination\/.+$/,
    mayImport: ['sessions/storage', ...domain],
    packages: noPackage,
  },
  {
    name: 'sessions/module',
    files: /^sessions\/module\/.+$/,
    mayImport: [...sessionLayers, ...providers, 'sessions/leases', 'sessions/encryption'],
  },
  // What REST and GraphQL have in common.
  {
    name: 'sessions/transport',
    files: /^sessions\/transport\/.+$/,
    mayImport: [...sessionLayers, 'sessions/auth'],
    packages: /^(@nestjs\/(common|core)$|rxjs$|node:)/,
  },
  // Finds out who sends a request, for all transports.
  {
    name: 'sessions/auth',
    files: /^sessions\/auth\/.+$/,
    mayImport: ['config', ...domain],
    packages: /^(@nestjs\/common|jose|node:.+)$/,
  },
  // Each operation once, for REST, GraphQL and the docs.
  {
    name: 'sessions/surface',
    files: /^sessions\/surface\/.+$/,
    mayImport: [...sessionLayers, 'sessions/transport'],
    packages: /^@nestjs\/common$/,
  },
  {
    name: 'sessions/rest',
    files: /^sessions\/rest\/.+$/,
    mayImport: [...sessionLayers, 'sessions/auth', 'sessions/transport', 'sessions/surface'],
  },
  {
    name: 'sessions/graphql',
    files: /^sessions\/graphql\/.+$/,
    mayImport: [...sessionLayers, 'sessions/transport', 'sessions/module', 'sessions/surface'],
  },
  // What users, apps and instances may take, for all stores.
  {
    name: 'sessions/quotas',
    files: /^sessions\/quotas\/.+$/,
    mayImport: ['config', 'sessions/storage', 'sessions/coordination', ...domain],
    packages: noPackage,
  },
  // How far the logs were read for what has to go.
  {
    name: 'sessions/retention',
    files: /^sessions\/retention\/.+$/,
    // Who holds a session looks whether its user is being erased.
    mayImport: ['sessions/storage', 'sessions/coordination', 'sessions/erasures', ...domain],
    packages: noPackage,
  },
  // Notes of erasures, and what is left of a user.
  {
    name: 'sessions/erasures',
    files: /^sessions\/erasures\/.+$/,
    mayImport: ['sessions/storage', 'sessions/coordination', 'sessions/leases', ...domain],
    packages: noPackage,
  },
  {
    name: 'sessions/storage',
    files: /^sessions\/storage\/[^/]+$/,
    mayImport: [...domain, 'state'],
    packages: nodeBuiltins,
  },
  {
    name: 'sessions/leases',
    files: /^sessions\/leases\/.+$/,
    mayImport: [...domain, 'sessions/storage'],
    packages: nodeBuiltins,
  },
  {
    name: 'sessions/operations',
    files: /^sessions\/operations\/.+$/,
    mayImport: [
      ...pureLayers,
      'sessions/storage',
      'sessions/environment',
      'sessions/leases',
      'sessions/quotas',
      'sessions/retention',
      'sessions/erasures',
    ],
  },
  {
    name: 'sessions/consumers',
    files: /^sessions\/consumers\/.+$/,
    mayImport: [...pureLayers, 'sessions/storage', 'sessions/environment', 'sessions/leases', 'sessions/operations'],
    packages: nodeBuiltins,
  },
  // What each method of the service runs, and what its channel and the fields of its request are called.
  {
    name: 'sessions/service-operations',
    files: /^sessions\/service-operations\.ts$/,
    mayImport: [...domain, 'sessions/environment', 'sessions/operations'],
    packages: noPackage,
  },
  // Tells who listens what runs.
  {
    name: 'sessions/tracing',
    files: /^sessions\/tracing\/.+$/,
    mayImport: [...domain, 'sessions/service-operations'],
    packages: /^node:diagnostics_channel$/,
  },
  {
    name: 'sessions/environment',
    files:
      /^sessions\/(session-environment|service-environment|session-hooks|session-signals|starting-watches|log-watcher|tail-reads|request-texts|lifecycle)\.ts$/,
    mayImport: [...pureLayers, 'sessions/storage', 'sessions/quotas', 'sessions/retention'],
  },
  {
    name: 'in-memory service',
    files: /^sessions\/in-memory-session\.service\.ts$/,
    mayImport: [...sessionLayers, 'sessions/storage/in-memory'],
  },
  {
    name: 'database service',
    files: /^sessions\/database-session\.service\.ts$/,
    mayImport: [...sessionLayers, 'sessions/storage/typeorm'],
  },
  {
    name: 'redis service',
    files: /^sessions\/redis-session\.service\.ts$/,
    mayImport: [...sessionLayers, 'sessions/storage/redis'],
  },
  {
    name: 'vertex service',
    files: /^sessions\/vertex-session\.service\.ts$/,
    mayImport: [...sessionLayers, 'sessions/storage/vertex'],
  },
  {
    name: 'sessions',
    files: /^sessions\/[^/]+$/,
    mayImport: [
      ...pureLayers,
      'sessions/storage',
      'sessions/environment',
      'sessions/reads',
      'sessions/leases',
      'sessions/retention',
      'sessions/operations',
      'sessions/consumers',
      'sessions/tracing',
      'sessions/service-operations',
    ],
  },
];

/** The folders that may import each optional peer dependency. */
export const peerFolders: Readonly<Record<string, string | readonly string[]>> = {
  '@google/adk': 'adapters/adk/',
  '@openai/agents-core': 'adapters/openai-agents/',
  '@a2a-js/sdk': 'adapters/a2a/',
  '@ag-ui/core': 'adapters/ag-ui/',
  '@langchain/core': 'adapters/langgraph/',
  '@langchain/langgraph-checkpoint': 'adapters/langgraph/',
  '@anthropic-ai/claude-agent-sdk': 'adapters/claude-agent/',
  '@modelcontextprotocol/sdk': 'adapters/mcp/',
  '@modelcontextprotocol/server': 'adapters/mcp/',
  ai: ['adapters/ai-sdk/', 'summarizer/models/'],
  '@ai-sdk/openai-compatible': 'summarizer/models/',
  typeorm: 'sessions/storage/typeorm/',
  ioredis: 'sessions/storage/redis/',
  jose: 'sessions/auth/',
  'google-auth-library': 'sessions/storage/vertex/',
  libsql: 'sessions/storage/typeorm/',
  'better-sqlite3': 'sessions/storage/typeorm/',
  mysql2: 'sessions/storage/typeorm/',
  pg: 'sessions/storage/typeorm/',
  '@opentelemetry/api': 'telemetry/',
  '@nestjs/schedule': 'sessions/module/',
  '@nestjs/config': 'config/',
  '@nestjs/terminus': 'health/',
  '@nestjs/swagger': [
    'openapi/',
    'sessions/rest/',
    'summarizer/rest/',
    'search/rest/',
    'agents/rest/',
    'adapters/ag-ui/',
  ],
  '@nestjs/graphql': ['sessions/graphql/', 'summarizer/graphql/', 'search/graphql/', 'agents/graphql/'],
  graphql: ['sessions/graphql/', 'agents/graphql/'],
  graphiql: 'sessions/graphql/explorer/',
  'class-validator': ['sessions/rest/', 'summarizer/rest/', 'search/rest/', 'agents/rest/'],
};

/** Entry points that must work in browsers, where Node has no say. */
export const browserEntries = ['client/index.ts'];

/** Entry points that must work with no optional peer installed, types included. */
export const entriesWithoutPeers = [
  'adapter.ts',
  'index.ts',
  'agents/index.ts',
  'components/index.ts',
  'search/index.ts',
  'doctor/index.ts',
  'storage.ts',
  'testing/index.ts',
  'summarizer/index.ts',
  'transfer/index.ts',
];

/**
 * The functions that the rooms of a run take from outside, and why. What a lower room has to say, it returns, or adds to an object that
 * it was given: so a run reads from top to bottom.
 */
export const handedFunctions: Readonly<Record<string, string>> = {
  'agents/ask/expired-approvals.ts: goOn': 'It paces runs, and begins none itself.',
  'agents/ask/queue.ts: isEnough': 'It asks about events, and changes nothing.',
  'agents/ask/run-limits.ts: work': 'A place lasts as long as the work.',
  'agents/ask/run-request.ts: newId': 'The app may make ids.',
  'agents/ask/run-request.ts: onMismatch': 'The app is told.',
  'agents/invocation/agent-loop.ts: model': 'The app asks its model.',
  'agents/invocation/approval-requests.ts: is': 'It asks about approvals, and changes nothing.',
  'agents/invocation/approval-requests.ts: isGone': 'It asks about approvals, and changes nothing.',
  'agents/invocation/handler-events.ts: handler': 'The app answers.',
  'agents/invocation/output-key.ts: onMismatch': 'The app is told.',
  'agents/invocation/tool-context.ts: next': 'A tool of the app changes a value.',
  'agents/invocation/tool-run.ts: work': 'A limit of time holds for it.',
  'agents/invocation/tool.ts: onError': 'The app is told.',
  'agents/invocation/tool.ts: when': 'The app says what is tried again.',
  'agents/invocation/unique-call-ids.ts: newId': 'The app may make ids.',
  'agents/invocation/withdrawn-approvals.ts: work': 'It is tried again.',
  'agents/turn/agent-environment.ts: onError': 'The app is told.',
  'agents/turn/agent-environment.ts: onRunFailure': 'The app is told.',
  'agents/turn/partial-flusher.ts: newId': 'The app may make ids.',
  'agents/turn/partial-flusher.ts: onError': 'The app is told.',
};

/** The files that try again in their own way, and why `sessions/domain/process/retry-overtaken.ts` is not for them. */
export const ownRetries: Readonly<Record<string, string>> = {
  'sessions/domain/process/retry-overtaken.ts': 'It is the common retry.',
  'agents/invocation/run-budget.ts':
    'It waits for other runs to give back what they have reserved, as long as a message may wait.',
  'agents/invocation/tool-run.ts': 'The app says how often a tool is called again, and when.',
  'client/agents-client.ts': 'It connects to a server again, and goes on where the connection broke.',
  'client/event-stream.ts': 'It connects to a server again, and goes on where the connection broke.',
  'client/requests.ts': 'It sends a request to a server again, after the pause that the server asks for.',
  'client/sessions-client.ts': 'It reads or creates a session; whoever is first ends the loop.',
  'components/json-files/folder-lock.ts': 'It waits for a lock in the file system.',
  'sessions/awaited-turn.ts': 'It waits for the end of a turn, as long as the caller says.',
  'sessions/consumers/polling-loop.ts': 'It polls as long as the app runs.',
  'sessions/module/open-with-patience.ts': 'The app says how long it waits for a server that is not up yet.',
  'sessions/storage/redis/append/redis-writes.ts':
    'It waits for a session that another process holds, and takes its own turn, within the time of a call.',
  'sessions/storage/typeorm/connect/app-transactions.ts':
    'It goes back to a savepoint in the transaction of an app, whose locks allow no pause.',
  'sessions/storage/typeorm/connect/pooled-transactions.ts':
    'It begins a transaction again after a deadlock or the loss of its connection, within the time of a call.',
  'sessions/storage/typeorm/connect/sqlite/open-sqlite.ts': 'It waits for a file that another process has locked.',
  'sessions/storage/typeorm/connect/sqlite/sqlite-transactions.ts':
    'It waits for a file that another process has locked.',
  'sessions/storage/typeorm/live/postgres-feed.ts': 'It connects to the server again as long as somebody listens.',
  'sessions/storage/vertex/vertex-client.ts': 'It sends a request to a server again, after the pause that it asks for.',
  'transfer/export-records.ts': 'It has written lines of each attempt, and says that they are void.',
};

/** What decides about writes. A store compares and writes: its files name none of these, in code or in words. */
export const decidingRules = [
  'initialExcess',
  'newRecord',
  'findCommitRefusal',
  'recordAfter',
  'numberedEvents',
  'isAsExpected',
  'isDeletable',
  'metadataAfter',
  'turnOutcome',
  'partialOutcome',
  'markAfterAppend',
  'markAfterDispatch',
];

export const vagueNames = ['utils', 'util', 'helpers', 'helper', 'common', 'misc'];
export const maxLines = 350;
