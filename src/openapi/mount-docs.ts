import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { ConfigurationError } from '../config/configuration-error.js';
import { problemsOfOptions } from '../config/option-checks.js';
import { type SettingsOf, text } from '../config/setting.js';
import { pageHeaders } from '../sessions/transport/http-defaults.js';
import { withDefinedState } from './defined-state.js';
import { withDistinctIds } from './distinct-ids.js';

/** Options of {@link mountDocs}. */
export interface DocsOptions {
  /** The path of the page. Default: `docs`. */
  readonly path?: string | undefined;
  /** The path of the document. Default: `openapi.json`. */
  readonly documentPath?: string | undefined;
  readonly title?: string | undefined;
  readonly version?: string | undefined;
}

const OPTIONS: SettingsOf<DocsOptions> = {
  path: { kind: text },
  documentPath: { kind: text },
  title: { kind: text },
  version: { kind: text },
};

/** The order and descriptions of the tags. */
const TAGS = {
  sessions: 'Conversations of a user with the agents of an app.',
  events: 'The log of a session: what was said, and what changed.',
  state: 'Values of a session, of a user, of an app.',
  summaries: 'Summaries of the beginning of a conversation.',
  search: 'Events of a user, found by their words.',
  agents: 'Answers to messages, and what agents ask for.',
};

/**
 * Serves Swagger UI and the OpenAPI 3.1 document of all routes of an app, without files from other hosts. Call it before the
 * app listens. It calls `SwaggerModule.setup`; an app may also call that itself.
 *
 * @example
 * const app = await NestFactory.create(AppModule);
 * mountDocs(app); // GET /docs and GET /openapi.json
 * await app.listen(3000);
 */
export function mountDocs(app: INestApplication<Server>, options: DocsOptions = {}): void {
  const problems = problemsOfOptions(options, OPTIONS);
  if (problems.length > 0) throw new ConfigurationError(problems.map((problem) => `mountDocs: ${problem}`));
  const { path = 'docs', documentPath = 'openapi.json', title = 'Agent sessions', version = '1' } = options;
  const config = new DocumentBuilder().setOpenAPIVersion('3.1.0').setTitle(title).setVersion(version).build();
  setHeaders(app.getHttpServer(), path);
  SwaggerModule.setup(
    path,
    app,
    () => {
      const document = withDistinctIds(withDefinedState(SwaggerModule.createDocument(app, config), app));
      const used = JSON.stringify(document.paths);
      const tags = Object.entries(TAGS).filter(([name]) => used.includes(`"tags":["${name}"]`));
      return { ...document, tags: tags.map(([name, description]) => ({ name, description })) };
    },
    {
      raw: ['json'],
      jsonDocumentUrl: documentPath,
      customSiteTitle: title,
      customCss: '.swagger-ui .topbar { display: none }',
      // The validator is on another host.
      swaggerOptions: { validatorUrl: null, tryItOutEnabled: true },
    },
  );
}

/** Set on Node's response: `SwaggerModule` has no option for headers, and Express and Fastify have no common one. */
function setHeaders(server: Server, path: string): void {
  const page = `/${path.replace(/^\/+|\/+$/g, '')}`;
  server.prependListener('request', ({ url = '' }: IncomingMessage, response: ServerResponse) => {
    if (url !== page && !url.startsWith(`${page}/`) && !url.startsWith(`${page}?`)) return;
    for (const [name, value] of Object.entries(pageHeaders())) response.setHeader(name, value);
  });
}
