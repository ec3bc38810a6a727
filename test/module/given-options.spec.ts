import { Test } from '@nestjs/testing';
import type { DynamicModule, INestApplication } from '@nestjs/common';
import * as agents from '../../src/agents/index.js';
import * as client from '../../src/client/index.js';
import * as components from '../../src/components/index.js';
import * as doctor from '../../src/doctor/index.js';
import * as graphql from '../../src/graphql.js';
import * as health from '../../src/health/index.js';
import * as main from '../../src/index.js';
import * as inspector from '../../src/inspector/index.js';
import * as redis from '../../src/redis.js';
import * as rest from '../../src/rest.js';
import * as search from '../../src/search/index.js';
import * as summarizer from '../../src/summarizer/index.js';
import * as typeorm from '../../src/typeorm.js';
import * as vertex from '../../src/vertex.js';

const sessions = new main.InMemorySessionService();
const storage = new main.InMemorySessionStorage();
const found = new search.SessionSearch({ sessions });
const engine = { project: 'p', location: 'l', reasoningEngine: '1', singleProcess: true };
const model = { specificationVersion: 'v3', provider: 'p', modelId: 'm', doGenerate: () => undefined };
const access = rest.clientAccess();
const app = {} as INestApplication;

/** What it needs, how it is made, an option in another spelling or of another kind, and what is said of each. */
type Case = readonly [
  good: object,
  make: (options: never) => unknown,
  bad: Readonly<Record<string, unknown>>,
  problems: readonly string[],
];

/** Starts an app with a module beside those that it needs. */
async function started(module: DynamicModule): Promise<void> {
  const imports = [main.SessionsModule.forRoot({ provider: 'memory', isGlobal: true }), module];
  const testing = await Test.createTestingModule({ imports }).compile();
  await testing.close();
}

const ROUTES = [
  { pathh: 'x', path: 5 },
  ['pathh is no option; did you mean path?', 'path is 5; it must be text'],
] as const;
const FIELDS = [
  { acces: 'x', imports: 5 },
  ['acces is no option; did you mean access?', 'imports is 5; it must be a list'],
] as const;

/** All classes that are exported and take options, and functions that do. */
const CASES: Readonly<Record<string, Case>> = {
  SessionService: [
    { storage },
    (options) => new main.SessionService(options),
    { ttll: {}, ttl: 5 },
    ['ttll is no option; did you mean ttl?', 'ttl is 5'],
  ],
  InMemorySessionService: [
    {},
    (options) => new main.InMemorySessionService(options),
    { ttll: {}, ttl: 5 },
    ['ttll is no option; did you mean ttl?', 'ttl is 5'],
  ],
  InMemorySessionStorage: [
    {},
    (options) => new main.InMemorySessionStorage(options),
    { clok: 1, clock: 5 },
    ['clok is no option; did you mean clock?', 'clock is 5; it must be a clock'],
  ],
  InMemoryComponentStore: [
    {},
    (options) => new components.InMemoryComponentStore(options),
    { clok: 1, clock: 5 },
    ['clok is no option; did you mean clock?', 'clock is 5; it must be a clock'],
  ],
  DatabaseSessionService: [
    { database: ':memory:' },
    (options) => new typeorm.DatabaseSessionService(options),
    { poolsize: 5, timeLimitMs: 'x' },
    ['poolsize is no option; did you mean poolSize?', 'timeLimitMs is "x"'],
  ],
  RedisSessionService: [
    { url: 'redis://localhost' },
    (options) => new redis.RedisSessionService(options),
    { Prefix: 'x', prefix: 5 },
    ['Prefix is no option; did you mean prefix?', 'prefix is 5'],
  ],
  VertexSessionService: [
    engine,
    (options) => new vertex.VertexSessionService(options),
    { projectId: 'x', singleProcess: 5 },
    ['projectId is no option', 'singleProcess is 5'],
  ],
  TypeOrmSessionStorage: [
    { database: ':memory:' },
    (options) => new typeorm.TypeOrmSessionStorage(options),
    { poolsize: 5 },
    ['poolsize is no option; did you mean poolSize?'],
  ],
  RedisSessionStorage: [
    { url: 'redis://localhost' },
    (options) => new redis.RedisSessionStorage(options),
    { Prefix: 'x' },
    ['Prefix is no option; did you mean prefix?'],
  ],
  VertexSessionStorage: [
    engine,
    (options) => new vertex.VertexSessionStorage(options),
    { Project: 'x' },
    ['Project is no option; did you mean project?'],
  ],
  SessionsModule: [
    {},
    (options: object) => started(main.SessionsModule.forRoot({ provider: 'memory', name: 'other', ...options })),
    { ttll: {}, ttl: 5 },
    ['ttll is no option; did you mean ttl?', 'ttl is 5'],
  ],
  SessionRetention: [
    { sessions, rules: [{ keep: '7d' }] },
    (options) => new main.SessionRetention(options),
    { rule: [] },
    ['rule is no option; did you mean rules?'],
  ],
  SessionTitles: [
    { sessions, titler: { titleOf: () => 'x' } },
    (options) => new main.SessionTitles(options),
    { timeoutms: 5, timeoutMs: 'x' },
    ['timeoutms is no option; did you mean timeoutMs?', 'timeoutMs is "x"'],
  ],
  SessionAccessModule: [{ access }, (options) => rest.SessionAccessModule.forRoot(options), ...FIELDS],
  SessionsRestModule: [{}, (options) => rest.SessionsRestModule.forRoot(options), ...ROUTES],
  AgentsRestModule: [{}, (options) => rest.AgentsRestModule.forRoot(options), ...ROUTES],
  SummarizerRestModule: [{}, (options) => rest.SummarizerRestModule.forRoot(options), ...ROUTES],
  SearchRestModule: [{}, (options) => rest.SearchRestModule.forRoot(options), ...ROUTES],
  AdkRestModule: [
    {},
    (options) => rest.AdkRestModule.forRoot(options),
    { session: true, sessions: 'no', origins: 'x' },
    ['session is no option; did you mean sessions?', 'sessions is "no"', 'origins is "x"; it must be a list of texts'],
  ],
  mountDocs: [
    {},
    (options: object) => rest.mountDocs(app, { path: 5, ...options } as never),
    { pathh: 5, version: 1 },
    ['pathh is no option; did you mean path?', 'version is 1; it must be text', 'path is 5'],
  ],
  limitBodies: [
    {},
    (options: object) => rest.limitBodies(app, { inflate: 5, ...options } as never),
    { maxbytes: 5, maxBytes: '5kb' },
    ['maxbytes is no option; did you mean maxBytes?', 'maxBytes is "5kb"', 'inflate is 5'],
  ],
  clientAccess: [
    {},
    (options) => rest.clientAccess(options),
    { userof: 5, userOf: 5 },
    ['userof is no option; did you mean userOf?', 'userOf is 5'],
  ],
  SessionsGraphqlModule: [
    {},
    (options) => graphql.SessionsGraphqlModule.forRoot(options),
    { ...FIELDS[0], sessionsName: 5 },
    [...FIELDS[1], 'sessionsName is 5'],
  ],
  AgentsGraphqlModule: [{}, (options) => graphql.AgentsGraphqlModule.forRoot(options), ...FIELDS],
  SummarizerGraphqlModule: [{}, (options) => graphql.SummarizerGraphqlModule.forRoot(options), ...FIELDS],
  SearchGraphqlModule: [{}, (options) => graphql.SearchGraphqlModule.forRoot(options), ...FIELDS],
  sessionsGraphqlOptions: [
    {},
    (options) => graphql.sessionsGraphqlOptions(options),
    { limit: {}, introspection: 'no', addressOf: 'x' },
    ['limit is no option; did you mean limits?', 'introspection is "no"', 'addressOf is "x"; it must be a function'],
  ],
  sessionsLimitRules: [
    {},
    (options) => graphql.sessionsLimitRules(options),
    { maxdepth: 5, maxDepth: '5' },
    ['limits.maxdepth is no option; did you mean limits.maxDepth?', 'limits.maxDepth is "5"'],
  ],
  SessionsInspectorModule: [
    {},
    (options) => inspector.SessionsInspectorModule.forRoot(options),
    { acess: () => true, search: 'yes', api: 5, route: 5 },
    ['acess is no option; did you mean access?', 'search is "yes"', 'api is 5', 'route is 5'],
  ],
  SummarizerSessionManager: [
    {},
    (options) => new summarizer.SummarizerSessionManager({ sessions }, options),
    { event: 5, events: 'x' },
    ['event is no option; did you mean summarizer.events?', 'events is "x"'],
  ],
  SummarizerModule: [
    {},
    (options) => started(summarizer.SummarizerModule.forRoot({ ...(options as object), isGlobal: true })),
    { event: 5, events: 'x' },
    ['event is no option; did you mean summarizer.events?', 'events is "x"'],
  ],
  AiSdkSummaryModel: [
    {},
    (options) => new summarizer.AiSdkSummaryModel(model as never, options),
    { maxTokens: 5, maxRetries: '2', temperature: 'low' },
    ['maxTokens is no option', 'maxRetries is "2"', 'temperature is "low"; it must be a number'],
  ],
  SessionSearch: [
    { sessions },
    (options) => new search.SessionSearch(options),
    { app: ['shop'], apps: 'shop', pollMs: '5' },
    ['app is no option; did you mean apps?', 'apps is "shop"; it must be a list of texts', 'pollMs is "5"'],
  ],
  SearchModule: [
    {},
    (options) => started(search.SearchModule.forRoot(options)),
    { app: ['shop'], apps: 'shop', pollMs: '5' },
    ['app is no option; did you mean apps?', 'apps is "shop"; it must be a list of texts', 'pollMs is "5"'],
  ],
  recallTools: [
    { search: found, appName: 'shop', userId: 'ann' },
    (options) => search.recallTools(options),
    { sessionId: 'chat-1', currentSessionID: 'chat-1', currentSessionId: 5 },
    [
      'sessionId is no option',
      'currentSessionID is no option; did you mean currentSessionId?',
      'currentSessionId is 5',
    ],
  ],
  ComponentSession: [
    { sessions },
    (options) => new components.ComponentSession(options),
    { ttl: 5, ttlMs: '5', deleteWithSessions: 'no' },
    ['ttl is no option', 'ttlMs is "5"', 'deleteWithSessions is "no"'],
  ],
  ComponentsModule: [
    { store: new components.InMemoryComponentStore() },
    (options) => started(components.ComponentsModule.forRoot(options)),
    { ttl: 5, ttlMs: '5', deleteWithSessions: 'no', clock: 5, cleanupIntervalSeconds: '5' },
    ['ttl is no option', 'ttlMs is "5"', 'deleteWithSessions is "no"', 'clock is 5', 'cleanupIntervalSeconds is "5"'],
  ],
  JsonFileComponentStore: [
    { root: './data' },
    (options) => new components.JsonFileComponentStore(options),
    { folder: 'x', isSynced: 'no', clock: 5 },
    ['folder is no option', 'isSynced is "no"', 'clock is 5'],
  ],
  checkStore: [
    { sessions },
    (options) => doctor.checkStore(options).next(),
    { repairs: true, repair: 'no', onProgress: 5 },
    ['repairs is no option; did you mean repair?', 'repair is "no"', 'onProgress is 5'],
  ],
  SessionsClient: [
    { url: 'http://localhost', retries: 0 },
    (options) => new client.SessionsClient(options),
    { timeoutMS: 5 },
    ['timeoutMS: is no field of SessionsClient; did you mean timeoutMs?'],
  ],
  AgentSessions: [
    { sessions },
    (options) => new agents.AgentSessions(options),
    { pollms: 5, pollMs: 'x' },
    ['pollms is no option; did you mean pollMs?', 'pollMs is "x"'],
  ],
  AgentsModule: [
    {},
    (options) => started(agents.AgentsModule.forRoot(options)),
    { pollms: 5, pollMs: 'x' },
    ['pollms is no option; did you mean pollMs?', 'pollMs is "x"'],
  ],
};

/** Those that take no options, or none from an app: it injects them, or gets them from others. */
const OTHERS =
  /^(Access(Filter|Guard)|Agent(Context|Registry|Request|Run)|Component(Manager|sCleanup)|Event(Actions)?|ExtractiveSummaryModel|GraphqlAccessGuard|OpenAccess|ProblemFilter|Session(Access|Audit|s?)|SessionsCleanup|Sessions(Doctor)?Health|SignedInUser|State|SummarizerSweep|ToolContext|ApprovalPending)$/;

async function problemsOf(make: () => unknown): Promise<readonly string[]> {
  try {
    await make();
  } catch (error) {
    if (error instanceof main.ConfigurationError) return error.problems;
    if (error instanceof main.InvalidInputError) return [error.message];
    throw error;
  }
  return [];
}

describe('Options', () => {
  it('are those of all classes that apps make', () => {
    const modules: readonly Readonly<Record<string, unknown>>[] = [
      agents,
      client,
      components,
      doctor,
      graphql,
      health,
      inspector,
      main,
      redis,
      rest,
      search,
      summarizer,
      typeorm,
      vertex,
    ];
    const exported = modules.flatMap((each) => Object.entries(each));
    const classes = exported.filter(([, value]) => typeof value === 'function' && String(value).startsWith('class'));
    const names = classes.map(([name]) => name).filter((name) => !name.endsWith('Error') && !OTHERS.test(name));

    expect(names.filter((name) => !(name in CASES))).toEqual([]);
  });

  it.each(Object.entries(CASES))(
    'of %s are refused by name, all at once',
    async (_name, [good, make, bad, problems]) => {
      const problemsFound = await problemsOf(() => make({ ...good, ...bad } as never));

      for (const problem of problems) expect(problemsFound).toContainEqual(expect.stringContaining(problem));
      expect(problemsFound).toHaveLength(problems.length);
    },
  );

  it.each([
    ['retries', 'from 0 on'],
    ['timeoutMs', 'from 1 to 2147483647'],
  ])('of SessionsClient have the right kind: %s', (name, range) => {
    const make = () => new client.SessionsClient({ url: 'http://localhost', [name]: '5' });

    expect(make).toThrow(`${name}: must be a whole number ${range}`);
  });

  it.each([
    ['AgentSessions', (options: never) => new agents.AgentSessions(options)],
    ['ComponentSession', (options: never) => new components.ComponentSession(options)],
    ['SessionsClient', (options: never) => new client.SessionsClient(options)],
    ['SessionRetention', (options: never) => new main.SessionRetention(options)],
    ['SessionTitles', (options: never) => new main.SessionTitles(options)],
    ['SummarizerSessionManager', (options: never) => new summarizer.SummarizerSessionManager(options, {})],
  ])('of %s are named if they are missing', (name, make) => {
    expect(() => make(undefined as never)).toThrow(`options of ${name}: must be an object, such as {`);
  });
});
