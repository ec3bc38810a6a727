import { Test } from '@nestjs/testing';
import * as a2a from '../../../src/adapters/a2a/index.js';
import * as adk from '../../../src/adapters/adk/index.js';
import * as agUi from '../../../src/adapters/ag-ui/index.js';
import * as aiSdk from '../../../src/adapters/ai-sdk/index.js';
import * as claude from '../../../src/adapters/claude-agent/index.js';
import * as langgraph from '../../../src/adapters/langgraph/index.js';
import * as mcp from '../../../src/adapters/mcp/index.js';
import * as openAi from '../../../src/adapters/openai-agents/index.js';
import { AgentSessions, AgentsModule } from '../../../src/agents/index.js';
import { ComponentSession } from '../../../src/components/index.js';
import { ConfigurationError, InMemorySessionService, SessionsModule } from '../../../src/index.js';
import { SessionSearch } from '../../../src/search/index.js';
import * as telemetry from '../../../src/telemetry/index.js';

const sessions = new InMemorySessionService();
const agents = new AgentSessions({ sessions });
const components = new ComponentSession({ sessions });
const search = new SessionSearch({ sessions });
const KEY = { appName: 'shop', userId: 'ann', sessionId: 'chat-1' };

interface Case {
  /** What it needs. */
  readonly good: object;
  readonly make: (options: never) => unknown;
  /** An option in another spelling, or of another kind. */
  readonly bad: Readonly<Record<string, unknown>>;
  /** What the problem of each says. */
  readonly problems: readonly string[];
}

/** All that the adapters and telemetry export and that takes options. */
const CASES: Readonly<Record<string, Case>> = {
  SessionSaver: {
    good: { sessions, appName: 'shop' },
    make: (options) => new langgraph.SessionSaver(options),
    bad: { userID: () => 'ann', messagesChannel: 5, appName: '' },
    problems: ['userID is no option; did you mean userId?', 'appName is ""', 'messagesChannel is 5'],
  },
  SessionChatHistory: {
    good: { sessions, ...KEY },
    make: (options) => new langgraph.SessionChatHistory(options),
    bad: { turn: 'x' },
    problems: ['turn is no option'],
  },
  AdkSessionService: {
    good: { sessions },
    make: (options) => new adk.AdkSessionService(options),
    bad: { refusestale: true, refuseStale: 'false' },
    problems: ['refusestale is no option; did you mean refuseStale?', 'refuseStale is "false"'],
  },
  AdkMemoryService: {
    good: { sessions, search },
    make: (options) => new adk.AdkMemoryService(options),
    bad: { limits: 5 },
    problems: ['limits is no option; did you mean limit?'],
  },
  SessionTaskStore: {
    good: { sessions, appName: 'shop' },
    make: (options) => new a2a.SessionTaskStore(options),
    bad: { acces: () => false, userId: 'ann', agent: 'User' },
    problems: ['acces is no option; did you mean access?', 'userId is "ann"; it must be a function', 'agent is "User"'],
  },
  SessionPushNotificationStore: {
    good: { components, appName: 'shop' },
    make: (options) => new a2a.SessionPushNotificationStore(options),
    bad: { allowURL: () => false },
    problems: ['allowURL is no option; did you mean allowUrl?'],
  },
  ClaudeSessionStore: {
    good: { sessions, userId: 'ann' },
    make: (options) => new claude.ClaudeSessionStore(options),
    bad: { appname: 'x', foldSessionSummary: true },
    problems: ['appname is no option; did you mean appName?', 'foldSessionSummary is true'],
  },
  AgentsSession: {
    good: { sessions, ...KEY },
    make: (options) => new openAi.AgentsSession(options),
    bad: { Turn: 1, compacts: () => 1, agent: 'user' },
    problems: [
      'Turn is no option; did you mean turn?',
      'compacts is no option; did you mean compact?',
      'agent is "user"',
    ],
  },
  BranchedAgentsSession: {
    good: { sessions, ...KEY },
    make: (options) => new openAi.BranchedAgentsSession(options),
    bad: { models: 'x' },
    problems: ['models is no option; did you mean model?'],
  },
  SessionEventStore: {
    good: { sessions, appName: 'shop', userId: 'ann', mcpSessionId: 'm' },
    make: (options) => new mcp.SessionEventStore(options),
    bad: { maxMessage: 5 },
    problems: ['maxMessage is no option; did you mean maxMessages?'],
  },
  ChatSessions: {
    good: { sessions, agents },
    make: (options) => new aiSdk.ChatSessions(options),
    bad: { agentname: 'x', agentName: 'user', pollMs: NaN },
    problems: ['agentname is no option; did you mean agentName?', 'agentName is "user"', 'pollMs is NaN'],
  },
  AnswersChat: {
    good: { of: () => KEY },
    make: (options) => aiSdk.AnswersChat(options),
    bad: { polcy: 'enqueue', edits: 'no' },
    problems: ['polcy is no option; did you mean policy?', 'edits is "no"'],
  },
  AgUiModule: {
    good: {},
    make: (options) => agUi.AgUiModule.forRoot(options),
    bad: { acces: { decide: () => false } },
    problems: ['acces is no option; did you mean access?'],
  },
  startTelemetry: {
    good: {},
    make: (options) => telemetry.startTelemetry(options)(),
    bad: { userIDs: true, userIds: 'yes' },
    problems: ['userIDs is no option; did you mean userIds?', 'userIds is "yes"'],
  },
  measureOperations: {
    good: {},
    make: (options) => telemetry.measureOperations(() => undefined, options)(),
    bad: { Now: () => 1 },
    problems: ['Now is no option; did you mean now?'],
  },
};

/** Exports without options of their own; modules give theirs to what they provide. */
const OTHERS =
  /Error$|^(ChatAnswer|ChatInterceptor|ChatStream|ChatTurn|CurrentTurn|ChatsModule|ModelRequestPlugin|SessionRequestHandler|SessionsTelemetryModule|isPublicUrl|agUiRequestOf|channelOf)$/;

function problemsOf(make: () => unknown): readonly string[] {
  try {
    make();
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

describe('Options of adapters', () => {
  it('are those of all that adapters and telemetry export', () => {
    const modules = [a2a, adk, agUi, aiSdk, claude, langgraph, mcp, openAi, telemetry];
    const exported = modules.flatMap((each) => Object.entries(each).filter(([, value]) => typeof value === 'function'));
    const names = exported.map(([name]) => name).filter((name) => !OTHERS.test(name));

    expect(names.toSorted()).toEqual(Object.keys(CASES).toSorted());
  });

  it.each(Object.entries(CASES))('of %s are refused by name, all at once', (_name, { good, make, bad, problems }) => {
    expect(problemsOf(() => make(good as never))).toEqual([]);

    const found = problemsOf(() => make({ ...good, ...bad } as never));
    for (const problem of problems) expect(found).toContainEqual(expect.stringContaining(problem));
    expect(found).toHaveLength(problems.length);
  });

  it.each(Object.entries(CASES).filter(([, { good }]) => Object.keys(good).length > 0))(
    'of %s are refused without those that it needs',
    (_name, { good, make }) => {
      const [needed] = Object.keys(good);

      expect(problemsOf(() => make({} as never))).toContainEqual(expect.stringContaining(`${needed} is missing`));
      expect(problemsOf(() => make(undefined as never))).not.toEqual([]);
    },
  );

  it('are refused in the options of streams that are followed', () => {
    const { good, make } = CASES.SessionEventStore as Case;

    expect(problemsOf(() => make({ ...good, follow: { onEnds: () => undefined } } as never))).toEqual([
      expect.stringContaining('onEnds is no option; did you mean onEnd?'),
      expect.stringContaining('signal is missing'),
    ]);
  });

  it('are refused for the user of all threads, if the app meant one and there is none', () => {
    const options = { sessions, appName: 'shop', userId: undefined };

    expect(problemsOf(() => new langgraph.SessionSaver(options))).toEqual([
      expect.stringContaining('userId is undefined'),
    ]);
  });

  it('are refused when an app starts, if a module has them', async () => {
    const wrong = [aiSdk.ChatsModule.forRoot({ agentname: 'x' } as never)];
    const imports = [
      SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
      AgentsModule.forRoot({ isGlobal: true }),
    ];

    await expect(Test.createTestingModule({ imports: [...imports, ...wrong] }).compile()).rejects.toThrow(
      /agentname is no option/,
    );
    const app = Test.createTestingModule({
      imports: [telemetry.SessionsTelemetryModule.forRoot({ userIDs: true } as never)],
    });
    await expect(app.compile().then((module) => module.init())).rejects.toThrow(/userIDs is no option/);
  });
});

describe('Requests of adapters', () => {
  const chats = new aiSdk.ChatSessions({ sessions, agents });
  const saver = new langgraph.SessionSaver({ sessions, appName: 'shop' });

  it.each([
    ['answer', () => chats.answer({ ...KEY, request: {}, polcy: 'enqueue' } as never, () => new ReadableStream())],
    ['load', () => chats.load({ ...KEY, lmit: 1 } as never)],
    ['resume', () => chats.resume({ ...KEY, recentMS: 1 } as never)],
    ['fork', () => chats.fork({ ...KEY, beforeMesage: 'm' } as never)],
    ['inTurn', () => saver.inTurn({ configurable: { thread_id: 't' } }, () => 1, { waitMS: 5 } as never)],
  ])('are refused if a field is misspelled: %s', async (_name, ask) => {
    await expect(ask()).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('did you mean'),
    });
  });
});
