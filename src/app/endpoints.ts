import type { AppConfig } from '../config/app.config.js';
import { isLoopback } from '../config/loopback.js';
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

/** The app of the agent of `npm start`. */
export const DEMO_APP = 'demo';

/** The entry points on the console and on the home page. */
export function endpoints({
  hasDemoAgent,
  hasMetrics,
}: Pick<AppConfig, 'hasDemoAgent' | 'hasMetrics'>): readonly Endpoint[] {
  const demo = {
    name: 'demo',
    path: `/apps/${DEMO_APP}/users/{user}/sessions`,
    description: 'The app with an agent that needs no model: it remembers names, asks before it refunds, and counts.',
    isEndpoint: true,
  };
  const explorer = { name: 'explorer', path: '/explorer', description: 'Queries to try in the browser: GraphiQL.' };
  return [
    {
      name: 'inspector',
      path: '/inspector',
      description: 'The sessions, to look at: events as they come, state at each of them, and what a model is given.',
    },
    ...(hasDemoAgent ? [demo] : []),
    { name: 'apps', path: '/apps', description: 'The apps that have sessions.' },
    {
      name: 'REST',
      path: '/apps/{app}/users/{user}/sessions',
      description: 'The sessions of a user.',
      isEndpoint: true,
    },
    {
      name: 'agents',
      path: '/adk/list-apps',
      description:
        "The apps that have an agent. Clients of ADK use /adk as ADK's server, those of AG-UI /apps/{app}/users/{user}/ag-ui/run.",
    },
    { name: 'docs', path: '/docs', description: 'The REST routes, to read and to try: Swagger UI.' },
    { name: 'openapi', path: '/openapi.json', description: 'The REST routes for programs: OpenAPI 3.1.' },
    { name: 'GraphQL', path: '/graphql', description: 'The same over GraphQL, with subscriptions.', isEndpoint: true },
    ...(isProduction(process.env) ? [] : [explorer]),
    { name: 'health', path: '/health', description: 'Whether sessions can be read and written.' },
    ...(hasMetrics ? [{ name: 'metrics', path: '/metrics', description: 'Metrics for Prometheus.' }] : []),
  ];
}

/** The startup message: entry points, and a first command to try. */
export function startupMessage(url: string, app: AppConfig, sessions: SessionsConfig): string {
  const { hasDemoAgent } = app;
  const address = url.replace(/\[::1?\]|0\.0\.0\.0/, 'localhost');
  const facts = [
    ['listening on', address],
    ...openTo(app),
    ...endpoints(app).map(({ name, path }) => [name, address + path]),
    ['sessions in', storePlaceOf(sessions)],
  ];
  const lines = facts.map(([name = '', place]) => `  ${name.padEnd(12)}  ${place}`);
  const headers = app.auth ? `${JSON_TYPE} ${TOKEN}` : JSON_TYPE;
  const steps = hasDemoAgent ? talkToAgent(address, headers) : createSession(address, headers);
  return ['Agent Sessions for NestJS', ...lines, '', ...steps, ''].join('\n');
}

const JSON_TYPE = "-H 'Content-Type: application/json'";
const TOKEN = '-H "Authorization: Bearer $TOKEN"';

/** Both commands can be repeated: a session that is there stays as it is. */
function talkToAgent(address: string, headers: string): string[] {
  const session = `${address}/apps/${DEMO_APP}/users/ann/sessions/first`;
  const says = `{"newMessage":"My name is Ann","streaming":true}`;
  return [
    'Try it: open a session, and talk to the demo agent. Its answer is streamed.',
    '',
    `  curl -so /dev/null ${session} ${headers} -d '{}'`,
    `  curl -sN ${session}/run_sse ${headers} -d '${says}'`,
    '',
    'Then look at it, and talk to the agent, in a browser:',
    '',
    `  ${address}/inspector#app=${DEMO_APP}&userId=ann&sessionId=first`,
  ];
}

/** Creates a session with a generated id, so that it can be repeated. */
function createSession(address: string, headers: string): string[] {
  const body = `{"state":{"step":1,"user:theme":"dark"}}`;
  return ['Try it:', '', `  curl -s ${address}/apps/shop/users/ann/sessions ${headers} -d '${body}'`];
}

/** Who can use the app, if not this machine alone. */
function openTo({ host, auth }: AppConfig): string[][] {
  if (auth) {
    const ways = [auth.jwt ? ['AUTH_JWT_…'] : [], auth.apiKeys ? ['AUTH_API_KEYS'] : []].flat();
    return [['open to', `those who sign in (${ways.join(', ')})`]];
  }
  if (isLoopback(host)) return [];
  const where = host === '0.0.0.0' || host === '::' ? 'every address of this machine' : host;
  return [['open to', `everyone who can reach ${where} (HOST, SESSIONS_ACCESS=open)`]];
}
