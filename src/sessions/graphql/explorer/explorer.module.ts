import { createReadStream } from 'node:fs';
import {
  Controller,
  Get,
  Inject,
  NotFoundException,
  Param,
  Req,
  Res,
  StreamableFile,
  type DynamicModule,
  Module,
} from '@nestjs/common';
import { checkOptions } from '../../domain/values/given-options.js';
import { pageHeaders } from '../../transport/http-defaults.js';
import { NotDocumented, type PageRequest, type PageResponse, setHeaders } from '../../transport/served-page.js';
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

const EXPLORER_OPTIONS = Symbol('EXPLORER_OPTIONS');

/** The options with their defaults. */
export interface ExplorerSettings {
  readonly path: string;
  readonly endpoint: string;
}

/** Returns `undefined` if the explorer is off. */
export function explorerSettings(options: boolean | ExplorerOptions | undefined): ExplorerSettings | undefined {
  if (options === undefined || options === false) return undefined;
  const given = options === true ? {} : options;
  checkOptions<ExplorerOptions>('explorer', given, { path: 'text?', endpoint: 'text?', inProduction: 'flag?' });
  const { path = 'explorer', endpoint = '/graphql', inProduction = false } = given;
  return process.env.NODE_ENV === 'production' && !inProduction ? undefined : { path, endpoint };
}

/** Serves GraphiQL, to try the schema. */
@Controller()
@NotDocumented
class ExplorerController {
  constructor(
    private readonly files: ExplorerFiles,
    @Inject(EXPLORER_OPTIONS) private readonly settings: ExplorerSettings,
  ) {}

  @Get()
  page(@Req() request: PageRequest, @Res({ passthrough: true }) response: PageResponse): string {
    const [path = ''] = request.originalUrl.split('?');
    setPageHeaders(response, { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' });
    return explorerPage(`${path.replace(/\/+$/, '')}/`, this.settings.endpoint);
  }

  @Get(':file')
  file(@Param('file') name: string, @Res({ passthrough: true }) response: PageResponse): StreamableFile {
    const file = this.files.find(name);
    if (!file) throw new NotFoundException('The explorer has no such file.');
    setPageHeaders(response, { 'Cache-Control': 'public, max-age=3600' });
    if ('text' in file) return new StreamableFile(Buffer.from(file.text), { type: file.type });
    return new StreamableFile(createReadStream(file.path), { type: file.type, length: file.length });
  }
}

function setPageHeaders(response: PageResponse, headers: Readonly<Record<string, string>>): void {
  setHeaders(response, { ...pageHeaders(), ...headers });
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
