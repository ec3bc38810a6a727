import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { ConfigurationError } from '../../config/configuration-error.js';
import { fileHeaders } from './http-defaults.js';
import { type Refusal, refuse } from './malformed-http.js';
import { checkUpgrades } from './upgrade-checks.js';

/** The host names of a server, and the origins that may call it. */
export interface CrossSiteOptions {
  /** Host names besides `localhost` and IP addresses, without a port. `*` allows any name. */
  readonly hosts?: readonly string[] | undefined;
  /** Allowed origins besides the server's own, such as `https://app.example`. */
  readonly origins?: readonly string[] | undefined;
}

/**
 * Returns why a cross-site request must be refused. Clients other than browsers are refused only if they use an unknown host name.
 *
 * - `Host`: after DNS rebinding, a page still sends its own name.
 * - `Origin`: a page of another site calls, by a form, `fetch` or a WebSocket.
 * - `Sec-Fetch-Site`: the same where browsers send no `Origin`. Following a link is allowed.
 */
export function crossSiteProblem(headers: IncomingHttpHeaders, options: CrossSiteOptions): string | undefined {
  if (!isOwnHost(headers.host, options.hosts ?? [])) {
    return 'This server is not known by the host name of the request. If the name is right, add it to the allowed hosts.';
  }
  return isForeignPage(headers, options.origins ?? []) ? FOREIGN_PAGE : undefined;
}

export const FOREIGN_PAGE =
  'Pages of another origin may not call this server. If this one may, add it to the allowed origins.';

/** Whether a browser sent the request for a page of another origin that is not allowed. */
export function isForeignPage(headers: IncomingHttpHeaders, origins: readonly string[]): boolean {
  const { origin, host, 'sec-fetch-site': site, 'sec-fetch-mode': mode } = headers;
  if (origin !== undefined) return !origins.includes(origin) && !isOrigin(origin, host);
  return (site === 'cross-site' || site === 'same-site') && mode !== 'navigate';
}

function isOwnHost(host: string | undefined, hosts: readonly string[]): boolean {
  // Browsers always send one.
  if (host === undefined || host === '' || hosts.includes('*')) return true;
  const name = nameIn(host);
  if (name === undefined) return false;
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  // A page with an IP address as its origin was loaded from that address, so rebinding is impossible.
  if (isIP(name.replaceAll(/^\[|\]$/g, '')) !== 0) return true;
  return hosts.some((own) => own.toLowerCase() === name);
}

/** The name or address in `Host`, without its port. */
function nameIn(host: string): string | undefined {
  const isPlain = /^(\[[\da-f:.]+\]|[^:/?#@\\\s]+)(:\d+)?$/i.test(host);
  return isPlain && URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname.replace(/\.$/, '') : undefined;
}

/** Whether the host is the origin. The scheme is ignored: only a proxy in front knows it. */
function isOrigin(origin: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: ofOrigin } = new URL(origin);
  const own = `${protocol}//${host}`;
  return ofOrigin !== '' && URL.canParse(own) && new URL(own).host === ofOrigin;
}

/** Returns the refusal of a cross-site request, or `undefined`. */
export function crossSiteRefusal({ headers }: IncomingMessage, options: CrossSiteOptions): Refusal | undefined {
  const detail = crossSiteProblem(headers, options);
  return detail === undefined ? undefined : { status: 403, code: 'FORBIDDEN', detail };
}

/** Middleware that refuses cross-site requests and sets the security headers of every response. */
export function crossSiteMiddleware(options: CrossSiteOptions) {
  return (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    for (const [name, value] of Object.entries(fileHeaders())) response.setHeader(name, value);
    response.removeHeader('X-Powered-By');
    const refusal = crossSiteRefusal(request, options);
    if (refusal) return refuse(response, refusal);
    knownToApp.add(request);
    next();
  };
}

/** The requests that the app's own check has let pass. */
const knownToApp = new WeakSet<IncomingMessage>();

/** Whether the app has checked which page sent the request, by its own list of origins. */
export function isKnownToApp(request: IncomingMessage): boolean {
  return knownToApp.has(request);
}

/**
 * Refuses cross-site requests and WebSockets by `Host` (DNS rebinding), `Origin` and `Sec-Fetch-Site`, before any route or body
 * parser. Call it before other middleware. `localhost`, IP addresses and the server's own origin are always allowed.
 *
 * @example
 * const app = await NestFactory.create(AppModule);
 * protectFromOtherSites(app, { hosts: ['sessions.example'], origins: ['https://app.example'] });
 */
export function protectFromOtherSites(app: INestApplication<Server>, options: CrossSiteOptions = {}): void {
  app.use(crossSiteMiddleware(options));
  checkUpgrades(app.getHttpServer(), (request) => crossSiteRefusal(request, options));
}

/** Refuses one that is written in another way than browsers send it: it would allow nothing. */
export function checkedOrigins(origins: readonly string[]): readonly string[] {
  const problems = origins.flatMap((origin) =>
    URL.canParse(origin) && new URL(origin).origin === origin
      ? []
      : [
          `\`origins\` has ${JSON.stringify(origin)}; an origin is written as \`http://localhost:4200\`, without a path.`,
        ],
  );
  if (problems.length > 0) throw new ConfigurationError(problems);
  return origins;
}
