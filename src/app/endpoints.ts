import { isProduction } from '../config/sessions.config.js';

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
    { name: 'docs', path: '/docs', description: 'The REST routes, to read and to try: Swagger UI.' },
    { name: 'openapi', path: '/openapi.json', description: 'The REST routes for programs: OpenAPI 3.1.' },
    { name: 'GraphQL', path: '/graphql', description: 'The same over GraphQL, with subscriptions.', isEndpoint: true },
    ...(isProduction(env) ? [] : [explorer]),
    { name: 'health', path: '/health', description: 'Whether sessions can be read and written.' },
  ];
}
