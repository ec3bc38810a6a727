import type { INestApplication } from '@nestjs/common';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ASSETS, type DocsFile, assetOf, docsPage, startScript } from './docs-page.js';
import { withSessionsRoutes } from '../sessions/openapi/index.js';
import { withSummaryRoutes } from '../summarizer/openapi/index.js';

/** Where the page and its document are, and how they are called. */
export interface DocsOptions {
  /** Where the page is; `docs` unless given. */
  readonly path?: string | undefined;
  /** Where the document is; `openapi.json` unless given. */
  readonly documentPath?: string | undefined;
  readonly title?: string | undefined;
  readonly version?: string | undefined;
}

/** What Express and Fastify have in common here. */
interface Request {
  readonly url: string;
}
interface Response {
  header(name: string, value: string): unknown;
  send(content: string | Buffer): unknown;
}

/**
 * Documents all routes of an app, those of sessions and summaries in full: a page to read and to try them on, and the document itself.
 * Call it before the app listens.
 *
 * @example
 * const app = await NestFactory.create(AppModule);
 * mountDocs(app); // GET /docs and GET /openapi.json
 * await app.listen(3000);
 */
export function mountDocs(app: INestApplication, options: DocsOptions = {}): void {
  const { title = 'Agent sessions', version = '1' } = options;
  const page = trimmed(options.path ?? 'docs');
  const documentPath = trimmed(options.documentPath ?? 'openapi.json');
  const folder = page.split('/').at(-1) ?? '';
  const http = app.getHttpAdapter();
  const serve = (path: string, file: (url: string) => DocsFile | Promise<DocsFile>): void => {
    http.get(`/${path}`, async (request: Request, response: Response) => {
      const { type, content } = await file(request.url);
      response.header('Content-Type', type);
      response.send(content);
    });
  };
  let document: string | undefined;
  serve(documentPath, () => {
    document ??= JSON.stringify(documentOf(app, title, version));
    return { type: 'application/json; charset=utf-8', content: document };
  });
  serve(page, (url) => docsPage(title, /\/(\?|$)/.test(url) ? '.' : `./${folder}`));
  serve(`${page}/start.js`, () => startScript('../'.repeat(page.split('/').length) + documentPath));
  for (const name of Object.keys(ASSETS)) serve(`${page}/${name}`, () => assetOf(name));
}

function documentOf(app: INestApplication, title: string, version: string): OpenAPIObject {
  const info = { title, version, description: '', contact: {} };
  const document = SwaggerModule.createDocument(app, { openapi: '3.1.0', info });
  return withSummaryRoutes(withSessionsRoutes(document));
}

function trimmed(path: string): string {
  return path.replace(/^\/+|\/+$/g, '');
}
