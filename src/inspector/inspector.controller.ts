import {
  Body,
  Controller,
  ForbiddenException,
  Get,
  HttpCode,
  Inject,
  NotFoundException,
  Optional,
  Param,
  Post,
  Req,
  Res,
  StreamableFile,
  UnauthorizedException,
} from '@nestjs/common';
import { INSPECTOR_OPTIONS, INSPECTOR_ROUTE, type InspectorOptions, actionsOf } from './inspector-options.js';
import type { PageConfig } from './page-config.js';
import { NotDocumented, type PageRequest, type PageResponse, setHeaders } from '../sessions/transport/served-page.js';
import { isForeignPage } from '../sessions/transport/cross-site.js';
import { SessionAccess } from '../sessions/transport/session-access.js';
import { SignedInAccess } from '../sessions/transport/signed-in-access.js';
import { PageFiles } from './page-files.js';
import { PAGE_HEADERS, findPageBase, inspectorPage } from './page-html.js';

const NOT_STORED = { 'Cache-Control': 'no-store' };

/** Serves the page. It holds no session: the page asks the routes of the app for them, as any other client does. */
@Controller()
@NotDocumented
export class InspectorController {
  constructor(
    private readonly files: PageFiles,
    @Inject(INSPECTOR_OPTIONS) private readonly options: InspectorOptions,
    @Inject(INSPECTOR_ROUTE) private readonly route: string,
    @Optional() @Inject(SessionAccess) private readonly rule: SessionAccess | undefined,
  ) {}

  @Get()
  async page(@Req() request: PageRequest, @Res({ passthrough: true }) response: PageResponse): Promise<string> {
    await this.#assertOpen(request);
    setPageHeaders(response, { 'Content-Type': 'text/html; charset=utf-8', ...NOT_STORED });
    const base = findPageBase(request.originalUrl, request.headers['x-forwarded-prefix']);
    return inspectorPage(base, this.files.nameOf('main.js'), this.files.nameOf('styles.css'));
  }

  @Get('config.json')
  async config(@Req() request: PageRequest, @Res({ passthrough: true }) response: PageResponse): Promise<PageConfig> {
    await this.#assertOpen(request);
    setPageHeaders(response, NOT_STORED);
    const { api = '', search = false, demoApp, traceUrl } = this.options;
    const up = '../'.repeat(this.route.split('/').length);
    const actions = actionsOf(this.options);
    return {
      api: up + api.replace(/^\/+/, ''),
      actions,
      search,
      ...(this.rule instanceof SignedInAccess && this.rule.hasCookie(request) && { isSignedIn: true }),
      ...(demoApp !== undefined && { demoApp }),
      ...(traceUrl !== undefined && { traceUrl }),
    };
  }

  /** Keeps a token or an API key in a cookie that no script can read. */
  @Post('sign-in')
  @HttpCode(204)
  async signIn(
    @Body() body: { readonly credential?: unknown } | undefined,
    @Req() request: PageRequest,
    @Res({ passthrough: true }) response: PageResponse,
  ): Promise<void> {
    const rule = this.#signInFor(request, response);
    const { credential } = body ?? {};
    if (typeof credential !== 'string' || credential === '') throw new UnauthorizedException('Sign in first.');
    response.header('Set-Cookie', await rule.cookieFor(credential));
  }

  /** Takes the cookie from the browser, and ends what is open with it. */
  @Post('sign-out')
  @HttpCode(204)
  signOut(@Req() request: PageRequest, @Res({ passthrough: true }) response: PageResponse): void {
    const rule = this.#signInFor(request, response);
    response.header('Set-Cookie', rule.signOut(request));
  }

  /** The names of files change with their content. They are those of the package, so that nobody has to be asked. */
  @Get('files/:name')
  async file(
    @Param('name') name: string,
    @Req() request: PageRequest,
    @Res({ passthrough: true }) response: PageResponse,
  ): Promise<StreamableFile> {
    const file = await this.files.find(name, String(request.headers['accept-encoding'] ?? ''));
    if (!file) throw new NotFoundException('The inspector has no such file.');
    setPageHeaders(response, { 'Cache-Control': 'public, max-age=31536000, immutable', Vary: 'Accept-Encoding' });
    if (file.encoding !== undefined) response.header('Content-Encoding', file.encoding);
    return new StreamableFile(file.bytes, { type: file.type, length: file.bytes.length });
  }

  #signInFor({ headers }: PageRequest, response: PageResponse): SignedInAccess {
    setPageHeaders(response, NOT_STORED);
    const isJson = String(headers['content-type'] ?? '').startsWith('application/json');
    if (!isJson || isForeignPage(headers, [])) {
      throw new ForbiddenException('Only the inspector itself may sign in and out.');
    }
    // The guard of the app has a sign-in of its own.
    if (!(this.rule instanceof SignedInAccess)) throw new NotFoundException('The inspector signs nobody in.');
    return this.rule;
  }

  async #assertOpen(request: PageRequest): Promise<void> {
    const { access } = this.options;
    if (!access) return;
    const answer: unknown = await access(request as never);
    if (answer === true) return;
    if (answer === false) throw new ForbiddenException('You may not open the inspector.');
    throw new Error(`The option access of SessionsInspectorModule answered ${typeof answer}, not true or false.`);
  }
}

function setPageHeaders(response: PageResponse, headers: Readonly<Record<string, string>>): void {
  setHeaders(response, { ...PAGE_HEADERS, ...headers });
}
