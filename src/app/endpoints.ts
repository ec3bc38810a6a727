import { isLoopback } from '../config/app.config.js';
import type { SessionsConfig } from '../config/index.js';
import { isProduction } from '../config/sessions-environment.js';
import { storePlaceOf } from '../config/store-place.js';

/** An entry point of the app. */
export interface Endpoint {
  readonly name: string;
  readonly path: string;
  readonly description: string;
  /** For programs, not for browsers. */
  readonly isEndpoint?: boolean;
}

/** The entry points on the console and on the home page. */
export function endpoints(env: NodeJS.ProcessEnv): readonly Endpoint[] {
  const explorer = { name: 'explorer', path: '/explorer', description: 'Queries to try in the browser: GraphiQL.' };
  return [
    {
      name: 'REST',
      path: '/apps/{app}/users/{user}/sessions',
      description: 'The sessions of a user.',
      isEndpoint: true,
    },
    {
      name: 'agents',
      path: '/adk/list-apps',
      description: "The apps that have an agent. Clients of ADK use /adk as ADK's server.",
    },
    { name: 'docs', path: '/docs', description: 'The REST routes, to read and to try: Swagger UI.' },
    { name: 'openapi', path: '/openapi.json', description: 'The REST routes for programs: OpenAPI 3.1.' },
    { name: 'GraphQL', path: '/graphql', description: 'The same over GraphQL, with subscriptions.', isEndpoint: true },
    ...(isProduction(env) ? [] : [explorer]),
    { name: 'health', path: '/health', description: 'Whether sessions can be read and written.' },
  ];
}

/** The startup message: entry points, and a first command to try. */
export function startupMessage(url: string, host: string, sessions: SessionsConfig): string {
  const address = url.replace(/\[::1?\]|0\.0\.0\.0/, 'localhost');
  const facts = [
    ['listening on', address],
    ...(isLoopback(host) ? [] : [['open to', openTo(host)]]),
    ...endpoints(process.env).map(({ name, path }) => [name, address + path]),
    ['sessions in', storePlaceOf(sessions)],
  ];
  const lines = facts.map(([name = '', place]) => `  ${name.padEnd(12)}  ${place}`);
  return ['Agent Sessions for NestJS', ...lines, '', 'Try it:', '', `  ${firstCommand(address)}`, ''].join('\n');
}

/** Creates a session with a generated id, so that it can be repeated. */
function firstCommand(address: string): string {
  const body = `{"state":{"step":1,"user:theme":"dark"}}`;
  return `curl -s ${address}/apps/shop/users/ann/sessions -H 'Content-Type: application/json' -d '${body}'`;
}

/** Who can reach the app. */
function openTo(host: string): string {
  const where = host === '0.0.0.0' || host === '::' ? 'every address of this machine' : host;
  return `everyone who can reach ${where} (HOST, SESSIONS_ACCESS=open)`;
}
