import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import {
  Controller,
  Get,
  type INestApplication,
  Inject,
  Module,
  type ModuleMetadata,
  Param,
  Post,
  Req,
  Res,
  UseFilters,
  UseGuards,
  applyDecorators,
} from '@nestjs/common';
import { GraphQLModule, GraphQLSchemaHost } from '@nestjs/graphql';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import type { UIMessage, UIMessageChunk } from 'ai';
import type { GraphQLSchema } from 'graphql';
import { AgUiModule } from '../../../../src/adapters/ag-ui/index.js';
import {
  AnswersChat,
  ChatSessions,
  ChatsModule,
  type FastifyReply,
  type NodeResponse,
} from '../../../../src/adapters/ai-sdk/index.js';
import { AgentsGraphqlModule } from '../../../../src/agents/graphql/index.js';
import { AgentSessions, AgentsModule } from '../../../../src/agents/index.js';
import { AdkRestModule, AgentsRestModule } from '../../../../src/agents/rest/index.js';
import { SessionService, SessionsModule } from '../../../../src/index.js';
import { SessionsGraphqlModule, sessionsGraphqlOptions } from '../../../../src/sessions/graphql/index.js';
import {
  type AccessAnswer,
  AccessGuard,
  type AccessRequest,
  type AccessUser,
  FASTIFY_OPTIONS,
  LargeAnswer,
  OpensStream,
  ProblemFilter,
  RequireAccess,
  SessionAccess,
  SessionAccessModule,
  type SessionAccessOptions,
  SessionsRestModule,
  isClientWrite,
  limitBodies,
} from '../../../../src/sessions/rest/index.js';
import { SearchGraphqlModule } from '../../../../src/search/graphql/index.js';
import { SearchModule } from '../../../../src/search/index.js';
import { SearchRestModule } from '../../../../src/search/rest/index.js';
import { SummarizerGraphqlModule } from '../../../../src/summarizer/graphql/index.js';
import { SummarizerModule } from '../../../../src/summarizer/index.js';
import { SummarizerRestModule } from '../../../../src/summarizer/rest/index.js';
import { provideFastifyIntegration } from '../../../graphql/fastify-apollo.js';
import { HTTP_APP, TestAgent } from '../../../support/http-app.js';
import type { Framework } from '../../../rest/rest-app.js';
import { A2aController, McpController, responseOf } from './walk-servers.js';
import { type Headers, type Request, ownerOf } from './walk-users.js';

/** The users of two tenants, by their headers or connection parameters. */
export const CALLERS = {
  nobody: {},
  'another user': { 'x-user': 'bob' },
  'the same name in another app': { 'x-user': 'ann', 'x-app': 'bank' },
} as const satisfies Record<string, Headers>;
/** The origin of a page that may open WebSockets. */
export const OTHER_PAGE = 'https://app.example';
export const OWNER: Headers = { 'x-user': 'ann' };
/** May use all operations. */
export const OPERATOR: Headers = { ...OWNER, 'x-rights': 'all' };

/** May use all operations in the sessions of another team. */
export const OTHER_TEAM: Headers = { 'x-user': 'eve', 'x-rights': 'all', 'x-team': 'south' };

const OPERATIONS = ['rewind', 'redact', 'fork', 'summary', 'turn', 'stop', 'approval', 'metadataDelta', 'turnsOnly'];

interface Person extends AccessUser {
  readonly app: string;
  readonly hasRights: boolean;
  /** Of those who see the sessions of a team instead of their own. */
  readonly team: string | undefined;
}

/** Clients of the app that they belong to, and agents of its teams. */
class TenantAccess extends SessionAccess<Person> {
  override userOf({ headers, connectionParams }: Request): Person | undefined {
    const {
      'x-user': id,
      'x-app': app = 'shop',
      'x-rights': rights,
      'x-team': team,
    } = { ...headers, ...connectionParams };
    return id === undefined ? undefined : { id, app, team, hasRights: rights === 'all' };
  }

  allows({ user, userId, target, action, appName }: AccessRequest<Person>): AccessAnswer {
    if (user.app !== appName) return false;
    if (user.team !== undefined) return { labels: { team: user.team } };
    return target === 'appState' ? action === 'read' : userId === user.id;
  }

  override allowsWrite({ user, write }: AccessRequest<Person>): boolean {
    return isClientWrite(write, user.hasRights ? { controls: OPERATIONS } : {});
  }
}

async function* said(): AsyncGenerator<UIMessageChunk> {
  yield { type: 'text-start', id: 't' };
  yield { type: 'text-delta', id: 't', delta: 'ok' };
  yield { type: 'text-end', id: 't' };
}

/** As docs/adapters/ai-sdk.md has it. */
const Asks = (action: 'read' | 'write', ...controls: string[]) =>
  applyDecorators(
    UseGuards(AccessGuard),
    UseFilters(ProblemFilter),
    RequireAccess(
      action,
      'session',
      () => ({ controls }),
      (_body, { id }, request: Request) => ({ ...ownerOf(request), sessionId: id }),
    ),
  );

/** Chats as an app mounts them. */
@Controller('chat')
class ChatController {
  constructor(@Inject(ChatSessions) private readonly chats: ChatSessions) {}

  @Post()
  @AnswersChat({ of: ownerOf })
  answer() {
    return said();
  }

  @Get(':id')
  @Asks('read')
  @LargeAnswer()
  messages(@Req() request: Request, @Param('id') sessionId: string): Promise<UIMessage[]> {
    return this.chats.load({ ...ownerOf(request), sessionId });
  }

  @Get(':id/stream')
  @Asks('read')
  @OpensStream()
  async resume(
    @Req() request: Request,
    @Param('id') sessionId: string,
    @Res() response: NodeResponse & FastifyReply,
  ): Promise<void> {
    const running = await this.chats.resume({ ...ownerOf(request), sessionId, recentMs: 60_000 });
    if (running) await running.pipeTo(response);
    else responseOf(response).writeHead(204).end();
  }

  @Post(':id/fork')
  @Asks('write', 'fork')
  async fork(@Req() request: Request, @Param('id') sessionId: string): Promise<{ id: string }> {
    const { id } = await this.chats.fork({ ...ownerOf(request), sessionId });
    return { id };
  }

  @Post(':id/stop')
  @Asks('write', 'stop')
  async stop(@Req() request: Request, @Param('id') sessionId: string): Promise<{ stopped: boolean }> {
    return { stopped: await this.chats.stop({ ...ownerOf(request), sessionId }) };
  }
}

interface ExpressLayer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
}

interface FastifyRoute {
  readonly method: string | readonly string[];
  readonly url: string;
}

/** An app with all that the package mounts, and what it has registered. */
export class WalkApp {
  private constructor(
    readonly app: INestApplication,
    readonly url: string,
    /** All routes, as `GET /path`. */
    readonly routes: readonly string[],
  ) {}

  /**
   * @param added routes and fields of the app itself, and what else it mounts
   * @param rule who may do what
   */
  static async start(
    framework: Framework,
    added: Pick<ModuleMetadata, 'controllers' | 'providers' | 'imports'> = {},
    rule: SessionAccessOptions = { access: new TenantAccess() },
  ) {
    @Module({
      imports: [
        SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
        SummarizerModule.forRoot({ isGlobal: true, autoSummarize: false, keepRecentEvents: 0 }),
        AgentsModule.forRoot({ isGlobal: true, pollMs: 50, drainMs: 0 }),
        AgentsModule.forFeature([TestAgent]),
        SessionAccessModule.forRoot(rule),
        SessionsRestModule.forRoot(),
        SearchModule.forRoot({ isGlobal: true }),
        SummarizerRestModule.forRoot(),
        SearchRestModule.forRoot(),
        AgentsRestModule.forRoot(),
        AdkRestModule.forRoot({ path: 'adk', sessions: true }),
        AgUiModule.forRoot(),
        GraphQLModule.forRoot<ApolloDriverConfig>({
          driver: ApolloDriver,
          ...sessionsGraphqlOptions({ origins: [OTHER_PAGE] }),
        }),
        SessionsGraphqlModule.forRoot(),
        SummarizerGraphqlModule.forRoot(),
        SearchGraphqlModule.forRoot(),
        AgentsGraphqlModule.forRoot(),
        ChatsModule.forRoot(),
        ...(added.imports ?? []),
      ],
      controllers: [ChatController, McpController, A2aController, ...(added.controllers ?? [])],
      providers: [...(added.providers ?? [])],
    })
    class WalkModule {}
    if (framework === 'Fastify') provideFastifyIntegration();
    const module = await Test.createTestingModule({ imports: [WalkModule] }).compile();
    const app =
      framework === 'Express'
        ? module.createNestApplication(HTTP_APP)
        : module.createNestApplication(new FastifyAdapter(FASTIFY_OPTIONS), HTTP_APP);
    const instance: unknown = app.getHttpAdapter().getInstance();
    const routes: string[] = [];
    if (framework === 'Fastify') {
      const { addHook } = instance as { addHook(name: 'onRoute', hook: (route: FastifyRoute) => void): void };
      addHook.call(instance, 'onRoute', ({ method, url }) =>
        routes.push(...[method].flat().map((each) => `${each} ${url}`)),
      );
    }
    limitBodies(app);
    app.useGlobalFilters(new ProblemFilter());
    await app.listen(0, '127.0.0.1');
    if (framework === 'Express') {
      const { stack } = (instance as { router: { stack: ExpressLayer[] } }).router;
      for (const { route } of stack)
        if (route) routes.push(...Object.keys(route.methods).map((method) => `${method.toUpperCase()} ${route.path}`));
    }
    // A field is no route: each of them is walked by itself. The page of the inspector holds nothing, and is for everybody.
    const walked = routes.filter((route) => /^(GET|POST|PUT|PATCH|DELETE) (?!\/(graphql|inspector))/.test(route));
    return new WalkApp(app, await app.getUrl(), [...new Set(walked)].toSorted());
  }

  get sessions(): SessionService {
    return this.app.get(SessionService, { strict: false });
  }

  get agents(): AgentSessions {
    return this.app.get(AgentSessions, { strict: false });
  }

  get schema(): GraphQLSchema {
    return this.app.get(GraphQLSchemaHost, { strict: false }).schema;
  }

  async close(): Promise<void> {
    await this.app.close();
  }

  /** The answer, without the body of a stream that may never end. */
  async send(method: string, path: string, body: unknown, headers: Headers): Promise<WalkAnswer> {
    const hasBody = method !== 'GET' && method !== 'DELETE';
    const response = await fetch(this.url + path, {
      method,
      headers: { connection: 'close', ...(hasBody && { 'content-type': 'application/json' }), ...headers },
      ...(hasBody && { body: JSON.stringify(body) }),
    });
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      await response.body?.cancel();
      return { status: response.status, text: '', code: undefined, isStream: true };
    }
    const text = await response.text();
    return { status: response.status, text, code: /"code":"([A-Z_]+)"/.exec(text)?.[1], isStream: false };
  }

  /** Everything that a user has, for a comparison. */
  async everythingOf(userId: string, appName = 'shop'): Promise<string> {
    const { sessions } = await this.sessions.listSessions({ appName, userId });
    const logs = sessions.map(async ({ id, state, metadata, turnsOnly }) => {
      const key = { appName, userId, sessionId: id };
      const [{ events }, usage, turn] = [
        await this.sessions.listEvents(key),
        await this.sessions.getUsage(key),
        await this.sessions.getTurn(key),
      ];
      return { id, state: state.toRecord(), metadata, turnsOnly, events, usage, turn: turn?.number };
    });
    const ofUser = await this.sessions.getUserState({ appName, userId });
    return JSON.stringify([await Promise.all(logs), ofUser, await this.sessions.getAppState({ appName })]);
  }
}

export interface WalkAnswer {
  readonly status: number;
  readonly text: string;
  readonly code: string | undefined;
  readonly isStream: boolean;
}
