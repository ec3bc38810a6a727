import { type INestApplication, Module } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import type { Server } from 'node:http';
import { promisify } from 'node:util';
import { SESSION_STORAGE, SessionService, SessionsModule, type SessionsModuleOptions } from '../../src/index.js';
import {
  FASTIFY_OPTIONS,
  OpenAccess,
  ProblemFilter,
  SESSIONS_BODY_LIMIT,
  SessionAccessModule,
  SessionsRestModule,
  answerMalformedHttp,
  type SessionsRestOptions,
} from '../../src/sessions/rest/index.js';
import type { SessionStorage } from '../../src/storage.js';
import { type GivenServices, givenServices } from '../support/given-services.js';
import { SummarizerModule, type SummarizerOptions, SummarizerSessionManager } from '../../src/summarizer/index.js';
import { SummarizerRestModule } from '../../src/summarizer/rest/index.js';

export type Framework = 'Express' | 'Fastify';
export const frameworks: readonly Framework[] = ['Express', 'Fastify'];

interface RestAppOptions extends Partial<SessionsRestOptions> {
  readonly sessions?: Partial<SessionsModuleOptions>;
  /** With the routes of summaries. */
  readonly summarizer?: SummarizerOptions;
  /** By one rule for the whole app, not one for each module of routes. */
  readonly isAccessGlobal?: boolean;
  /** In place of the services that the options above would make. */
  readonly services?: GivenServices;
  /** Done to the app before anything else is. */
  readonly prepare?: (app: INestApplication) => void;
}

/** What a request was answered. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

/** The client of the tests opens connections ahead, which nobody would close. */
const OPTIONS = { logger: false, forceCloseConnections: true } as const;

interface Layer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
}

/** An app with the routes of sessions, listening on a port of its own. */
export class RestApp {
  private constructor(
    private readonly app: INestApplication,
    readonly url: string,
  ) {}

  static async start(
    framework: Framework,
    { sessions, summarizer, services, prepare, isAccessGlobal = false, ...rest }: RestAppOptions = {},
  ): Promise<RestApp> {
    const options = { provider: 'memory', isGlobal: true, ...sessions } as const;
    const { access, streams, imports = [], ...place }: SessionsRestOptions = { access: OpenAccess, ...rest };
    const rule = access && { access, streams };
    const routes = { ...place, imports, ...(isAccessGlobal ? {} : rule) };
    const ofApp = isAccessGlobal && rule ? [SessionAccessModule.forRoot(rule)] : [];
    const ofSummaries = summarizer && [SummarizerModule.forRoot({ ...summarizer, isGlobal: true })];
    const ofServices = services ? [givenServices(services)] : [SessionsModule.forRoot(options), ...(ofSummaries ?? [])];
    const hasSummaries = summarizer !== undefined || services?.summaries !== undefined;
    @Module({
      imports: [
        ...ofServices,
        ...ofApp,
        SessionsRestModule.forRoot(routes),
        ...(hasSummaries ? [SummarizerRestModule.forRoot(routes)] : []),
      ],
    })
    class RestAppModule {}
    const module = await Test.createTestingModule({ imports: [RestAppModule] }).compile();
    const app =
      framework === 'Express'
        ? module.createNestApplication<NestExpressApplication>(OPTIONS)
        : module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(FASTIFY_OPTIONS), OPTIONS);
    prepare?.(app);
    if ('useBodyParser' in app && framework === 'Express') {
      (app as NestExpressApplication).useBodyParser('json', { limit: SESSIONS_BODY_LIMIT });
    }
    if (framework === 'Express') app.getHttpServer().on('clientError', answerMalformedHttp);
    app.useGlobalFilters(new ProblemFilter());
    await app.listen(0, '127.0.0.1');
    return new RestApp(app, await app.getUrl());
  }

  get sessions(): SessionService {
    return this.app.get(SessionService);
  }

  get storage(): SessionStorage {
    return this.app.get(SESSION_STORAGE, { strict: false });
  }

  get summaries(): SummarizerSessionManager {
    return this.app.get(SummarizerSessionManager, { strict: false });
  }

  /** All routes that Express has, as `GET /path`. */
  routes(): string[] {
    const { router } = this.app.getHttpAdapter().getInstance() as { router: { stack: Layer[] } };
    return router.stack.flatMap(({ route }) =>
      route ? Object.keys(route.methods).map((method) => `${method.toUpperCase()} ${route.path}`) : [],
    );
  }

  /** What writes has a body, be it empty. On a connection of its own: one that was kept may be closed by the server just when it is used again. */
  async request(method: string, path: string, given?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const body = given ?? (method === 'POST' || method === 'PATCH' ? {} : undefined);
    const response = await fetch(this.url + path, {
      method,
      headers: { connection: 'close', ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = text !== '' && response.headers.get('content-type')?.startsWith('text/event-stream') !== true;
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} };
  }

  /** How many connections the server has. */
  async connections(): Promise<number> {
    const server = this.app.getHttpServer() as Server;
    return promisify(server.getConnections.bind(server))();
  }

  async close(): Promise<void> {
    await this.app.close();
  }
}
