import { type INestApplication, Module } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { AdkRestModule, AgentsRestModule } from '../../src/agents/rest/index.js';
import { SearchRestModule } from '../../src/search/rest/index.js';
import { SESSION_STORAGE } from '../../src/index.js';
import {
  type BodyLimitOptions,
  FASTIFY_OPTIONS,
  OpenAccess,
  ProblemFilter,
  SessionsRestModule,
  answerMalformedHttp,
  limitBodies,
  type SessionsRestOptions,
} from '../../src/sessions/rest/index.js';
import type { SessionStorage } from '../../src/storage.js';
import { type Framework, frameworks } from './frameworks.js';
import { HTTP_APP, HttpApp, type HttpAppOptions, appParts } from '../support/http-app.js';
import { SummarizerRestModule } from '../../src/summarizer/rest/index.js';

export { type Framework, frameworks };

interface RestAppOptions extends Partial<SessionsRestOptions>, HttpAppOptions {
  /** Called before the app is set up. */
  readonly prepare?: (app: INestApplication) => void;
  readonly bodies?: BodyLimitOptions;
}

/** The response to a request. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

interface Layer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
}

/** An app with the routes of sessions. */
export class RestApp extends HttpApp {
  static async start(
    framework: Framework,
    { sessions, summarizer, search, agents, services, isAccessGlobal, prepare, bodies, ...rest }: RestAppOptions = {},
  ): Promise<RestApp> {
    const {
      access,
      streams,
      audit,
      imports: ofRoutes = [],
      ...place
    }: SessionsRestOptions = { access: OpenAccess, ...rest };
    const options = { sessions, summarizer, search, agents, services, isAccessGlobal };
    const { imports, ownAccess, hasSummaries, hasSearch } = appParts(options, { access, streams, audit });
    const routes = { ...place, imports: ofRoutes, ...ownAccess };
    @Module({
      imports: [
        ...imports,
        SessionsRestModule.forRoot(routes),
        ...(hasSummaries ? [SummarizerRestModule.forRoot(routes)] : []),
        ...(hasSearch ? [SearchRestModule.forRoot(routes)] : []),
        ...(agents ? [AgentsRestModule.forRoot(routes), AdkRestModule.forRoot(routes)] : []),
      ],
    })
    class RestAppModule {}
    const module = await Test.createTestingModule({ imports: [RestAppModule] }).compile();
    const app =
      framework === 'Express'
        ? module.createNestApplication<NestExpressApplication>(HTTP_APP)
        : module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(FASTIFY_OPTIONS), HTTP_APP);
    prepare?.(app);
    limitBodies(app, bodies);
    if (framework === 'Express') app.getHttpServer().on('clientError', answerMalformedHttp);
    app.useGlobalFilters(new ProblemFilter());
    await app.listen(0, '127.0.0.1');
    return new RestApp(app, await app.getUrl());
  }

  get storage(): SessionStorage {
    return this.app.get(SESSION_STORAGE, { strict: false });
  }

  /** All routes of Express, as `GET /path`. */
  routes(): string[] {
    const { router } = this.app.getHttpAdapter().getInstance() as { router: { stack: Layer[] } };
    return router.stack.flatMap(({ route }) =>
      route ? Object.keys(route.methods).map((method) => `${method.toUpperCase()} ${route.path}`) : [],
    );
  }

  /** Writes always have a body. Uses a new connection, since the server may close a kept one just before it is reused. */
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
}
