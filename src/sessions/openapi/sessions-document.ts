import type { OpenAPIObject } from '@nestjs/swagger';
import { HEADERS, PROBLEM_ANSWERS } from './answers.js';
import type { Components, SessionsDocument } from './document-types.js';
import { type DocumentedRoutes, componentsOf, documentOf, withRoutes } from './documented-routes.js';
import { EVENT_PATHS } from './event-paths.js';
import { EVENT_SCHEMAS } from './event-schemas.js';
import { PARAMETERS } from './parameters.js';
import { SESSION_PATHS } from './session-paths.js';
import { SESSION_SCHEMAS } from './session-schemas.js';
import { STATE_PATHS } from './state-paths.js';

/** What descriptions of routes may refer to, whoever describes them. */
export const COMPONENTS: Components = {
  schemas: { ...SESSION_SCHEMAS, ...EVENT_SCHEMAS },
  parameters: PARAMETERS,
  headers: HEADERS,
  responses: PROBLEM_ANSWERS,
};

const paths = { ...SESSION_PATHS, ...EVENT_PATHS, ...STATE_PATHS };

const ROUTES: DocumentedRoutes = {
  tags: [
    { name: 'sessions', description: 'Conversations of a user with the agents of an app.' },
    { name: 'events', description: 'The log of a session: what was said, and what changed.' },
    { name: 'state', description: 'Values of a session, of a user, of an app.' },
  ],
  paths,
  components: componentsOf(paths, COMPONENTS),
  landmark: '/apps/{appName}/users/{userId}/sessions',
};

/**
 * The routes of `SessionsRestModule` as a document of OpenAPI 3.1.
 *
 * @param path what stands in front of `/apps`, such as `api/v1`
 * @example
 * writeFileSync('openapi.json', JSON.stringify(describeSessionsRoutes()));
 */
export function describeSessionsRoutes(path = ''): SessionsDocument {
  return documentOf(ROUTES, path);
}

/**
 * Describes the routes of sessions in the document of a whole app. Where they are mounted is seen from the document.
 *
 * @example
 * SwaggerModule.setup('docs', app, withSessionsRoutes(SwaggerModule.createDocument(app, config)));
 */
export function withSessionsRoutes(document: OpenAPIObject): OpenAPIObject {
  return withRoutes(document, ROUTES);
}
