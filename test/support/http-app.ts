import type { Server } from 'node:http';
import { promisify } from 'node:util';
import { type DynamicModule, type INestApplication, Injectable, Module, type Type } from '@nestjs/common';
import { type Agent, type AgentContext, AgentHandler, AgentsModule, type RunHandler } from '../../src/agents/index.js';
import { SessionService, SessionsModule, type SessionsModuleOptions } from '../../src/index.js';
import { SearchModule, SessionSearch } from '../../src/search/index.js';
import { SessionAccessModule, type SessionAccessOptions } from '../../src/sessions/rest/index.js';
import { SummarizerModule, type SummarizerOptions, SummarizerSessionManager } from '../../src/summarizer/index.js';

/** Services that replace those of an app under test. */
interface InjectedServices {
  readonly sessions: SessionService;
  readonly summaries?: SummarizerSessionManager;
  readonly search?: SessionSearch;
}

export interface HttpAppOptions {
  readonly sessions?: Partial<SessionsModuleOptions>;
  /** Adds the routes or fields of summaries. */
  readonly summarizer?: SummarizerOptions;
  /** Adds the routes or fields of search. */
  readonly search?: boolean;
  /** Adds the routes or fields of agents, with an agent of the app `shop` that asks before it refunds. */
  readonly agents?: boolean;
  /** One access rule for the whole app instead of one per module. */
  readonly isAccessGlobal?: boolean;
  /** Replaces the services that the options above would create. */
  readonly services?: InjectedServices;
}

interface AppParts {
  /** The modules below those of a transport. */
  readonly imports: DynamicModule[];
  /** The access rule, unless it is global. */
  readonly ownAccess: Partial<SessionAccessOptions>;
  readonly hasSummaries: boolean;
  readonly hasSearch: boolean;
}

/** Says what was said; asks before it refunds. */
@Injectable()
@AgentHandler('shop')
export class TestAgent implements Agent {
  async *run(context: AgentContext): ReturnType<RunHandler> {
    const words = context.message.parts?.[0]?.text ?? '';
    if (words === 'slow') yield { content: { role: 'model', parts: [{ text: 'soon' }] } };
    if (words === 'wait' || words === 'slow')
      await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
    if (words === 'refund' && !context.isResumed) {
      yield { content: { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'refund', args: {} } }] } };
    }
    if (context.openCalls.length > 0) {
      yield await context.callTools({ refund: async (_args, tool) => tool.requestApproval({ hint: 'Refund?' }) });
    }
    yield { partial: true, content: { role: 'model', parts: [{ text: 'echo' }] } };
    if (words === 'fail once' && !context.isResumed) throw Object.assign(new Error('a secret'), { status: 503 });
    yield { content: { role: 'model', parts: [{ text: `echo: ${words}` }] } };
  }
}

/** Closes idle connections of `fetch` too, which may open more than it uses. */
export const HTTP_APP = { logger: false, forceCloseConnections: true } as const;

/** An app under test, on a free port. */
export abstract class HttpApp {
  protected constructor(
    protected readonly app: INestApplication,
    readonly url: string,
  ) {}

  get sessions(): SessionService {
    return this.app.get(SessionService);
  }

  get summaries(): SummarizerSessionManager {
    return this.app.get(SummarizerSessionManager, { strict: false });
  }

  get search(): SessionSearch {
    return this.app.get(SessionSearch, { strict: false });
  }

  /** A provider of the app. */
  get<Provider>(type: Type<Provider>): Provider {
    return this.app.get(type, { strict: false });
  }

  get server(): Server {
    return this.app.getHttpServer() as Server;
  }

  /** The number of open connections. */
  async connections(): Promise<number> {
    const { server } = this;
    return promisify(server.getConnections.bind(server))();
  }

  async close(): Promise<void> {
    await this.app.close();
  }
}

export function appParts(
  { sessions, summarizer, search = false, agents, services, isAccessGlobal = false }: HttpAppOptions,
  { access, streams, audit }: Partial<SessionAccessOptions>,
): AppParts {
  const rule = access && { access, streams, audit };
  const options = { provider: 'memory', isGlobal: true, ...sessions } as const;
  const ofServices = services
    ? [injected(services)]
    : [
        SessionsModule.forRoot(options),
        ...(summarizer ? [SummarizerModule.forRoot({ ...summarizer, isGlobal: true })] : []),
        ...(search ? [SearchModule.forRoot({ isGlobal: true })] : []),
        ...(agents
          ? [AgentsModule.forRoot({ isGlobal: true, pollMs: 50, drainMs: 0 }), AgentsModule.forFeature([TestAgent])]
          : []),
      ];
  return {
    imports: [...ofServices, ...(isAccessGlobal && rule ? [SessionAccessModule.forRoot(rule)] : [])],
    ownAccess: (isAccessGlobal ? undefined : rule) ?? {},
    hasSummaries: summarizer !== undefined || services?.summaries !== undefined,
    hasSearch: search || services?.search !== undefined,
  };
}

@Module({})
class InjectedServicesModule {}

/** A global module that provides the services. */
function injected({ sessions, summaries, search }: InjectedServices): DynamicModule {
  const providers = [
    { provide: SessionService, useValue: sessions },
    ...(summaries ? [{ provide: SummarizerSessionManager, useValue: summaries }] : []),
    ...(search ? [{ provide: SessionSearch, useValue: search }] : []),
  ];
  return {
    module: InjectedServicesModule,
    global: true,
    providers,
    exports: providers.map(({ provide }) => provide),
  };
}
