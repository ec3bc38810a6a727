import { createReadStream } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Controller, Get, NotFoundException, Param, Req, Res, SetMetadata, StreamableFile } from '@nestjs/common';
import { ExplorerAssets } from './explorer-assets.js';

/** What Express and Fastify have in common, as far as it is used here. */
interface Request extends Pick<IncomingMessage, 'headers'> {
  readonly protocol: string;
  readonly originalUrl: string;
}

interface Response {
  header(name: string, value: string): unknown;
}

/** Nothing comes from another host, whatever the page would like. */
const OWN_HOST_ONLY =
  "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; connect-src 'self' ws: wss:; " +
  "frame-ancestors 'self'";
const SANDBOX = 'sandbox allow-scripts';

/** For `@nestjs/swagger`, which an app with GraphQL need not have: a page and its files are nothing that clients call. */
const NotDocumented = SetMetadata('swagger/apiExcludeController', [true]);

/** A page to try the schema out: Altair, with all that it loads. */
@Controller()
@NotDocumented
export class ExplorerController {
  constructor(private readonly assets: ExplorerAssets) {}

  @Get()
  page(@Req() request: Request, @Res({ passthrough: true }) response: Response): string {
    const [path = ''] = request.originalUrl.split('?');
    response.header('Content-Type', 'text/html; charset=utf-8');
    response.header('Content-Security-Policy', OWN_HOST_ONLY);
    response.header('Cache-Control', 'no-store');
    return this.assets.page(`${path.replace(/\/+$/, '')}/`, webSocketHost(request));
  }

  /** No wildcard: what Express wants one to look like is none for Fastify. */
  @Get([':folder/:inner/:file', ':folder/:file', ':file'])
  async asset(
    @Param() { folder, inner, file }: Readonly<Record<string, string | undefined>>,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StreamableFile> {
    const asset = await this.assets.find([folder, inner, file].filter((part) => part !== undefined).join('/'));
    if (!asset) throw new NotFoundException('The explorer has no such file.');
    response.header('Content-Security-Policy', asset.isSandbox ? SANDBOX : OWN_HOST_ONLY);
    response.header('Cache-Control', 'public, max-age=3600');
    return new StreamableFile(createReadStream(asset.file), { type: asset.type, length: asset.length });
  }
}

/** Where subscriptions go; nothing where the host is a strange one, since it ends up in the page. */
function webSocketHost({ headers: { host = '' }, protocol }: Request): string | undefined {
  if (!/^[\w.:[\]-]+$/.test(host)) return undefined;
  return `${protocol === 'https' ? 'wss' : 'ws'}://${host}`;
}
