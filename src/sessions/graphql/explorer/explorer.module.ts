import { createReadStream } from 'node:fs';
import {
  Controller,
  Get,
  Inject,
  NotFoundException,
  Param,
  Req,
  Res,
  SetMetadata,
  StreamableFile,
  type DynamicModule,
  Module,
} from '@nestjs/common';
import { pageHeaders } from '../../transport/http-defaults.js';
import { ExplorerFiles } from './explorer-files.js';
import { explorerPage } from './explorer-page.js';
import { RouterModule } from '@nestjs/core';

/** Options of the explorer. */
export interface ExplorerOptions {
  /** The path of the page. Default: `explorer`. */
  readonly path?: string | undefined;
  /** The path of GraphQL. Default: `/graphql`. */
  readonly endpoint?: string | undefined;
  /** Whether to serve it in production. Default: false. */
  readonly inProduction?: boolean | undefined;
}

export const EXPLORER_OPTIONS = Symbol('EXPLORER_OPTIONS');

/** The options with their defaults. */
export interface ExplorerSettings {
  readonly path: string;
  readonly endpoint: string;
}

/** Returns `undefined` if the explorer is off. */
export function explorerSettings(options: boolean | ExplorerOptions | undefined): ExplorerSettings | undefined {
  if (options === undefined || options === false) return undefined;
  const { path = 'explorer', endpoint = '/graphql', inProduction = false } = options === true ? {} : options;
  return process.env.NODE_ENV === 'production' && !inProduction ? undefined : { path, endpoint };
}

/** The common subset of Express and Fastify that is used here. */
interface Request {
  readonly originalUrl: string;
}

interface Response {
  header(name: string, value: string): unknown;
  removeHeader(name: string): unknown;
}

/** Hides the page from OpenAPI, without importing the optional `@nestjs/swagger`. */
const NotDocumented = SetMetadata('swagger/apiExcludeController', [true]);

/** Serves GraphiQL, to try the schema. */
@Controller()
@NotDocumented
export class ExplorerController {
  constructor(
    private readonly files: ExplorerFiles,
    @Inject(EXPLORER_OPTIONS) private readonly settings: ExplorerSettings,
  ) {}

  @Get()
  page(@Req() request: Request, @Res({ passthrough: true }) response: Response): string {
    const [path = ''] = request.originalUrl.split('?');
    setHeaders(response, { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' });
    return explorerPage(`${path.replace(/\/+$/, '')}/`, this.settings.endpoint);
  }

  @Get(':file')
  file(@Param('file') name: string, @Res({ passthrough: true }) response: Response): StreamableFile {
    const file = this.files.find(name);
    if (!file) throw new NotFoundException('The explorer has no such file.');
    setHeaders(response, { 'Cache-Control': 'public, max-age=3600' });
    if ('text' in file) return new StreamableFile(Buffer.from(file.text), { type: file.type });
    return new StreamableFile(createReadStream(file.path), { type: file.type, length: file.length });
  }
}

function setHeaders(response: Response, headers: Readonly<Record<string, string>>): void {
  response.removeHeader('X-Powered-By');
  for (const [name, value] of Object.entries({ ...pageHeaders(), ...headers })) response.header(name, value);
}

/** Serves the explorer. */
@Module({ controllers: [ExplorerController] })
export class ExplorerModule {
  static at(settings: ExplorerSettings): DynamicModule {
    return {
      module: ExplorerModule,
      imports: [RouterModule.register([{ path: settings.path, module: ExplorerModule }])],
      providers: [ExplorerFiles, { provide: EXPLORER_OPTIONS, useValue: settings }],
    };
  }
}
