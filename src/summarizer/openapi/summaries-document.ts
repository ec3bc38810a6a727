import type { OpenAPIObject } from '@nestjs/swagger';
import type { SessionsDocument } from '../../sessions/openapi/document-types.js';
import {
  type DocumentedRoutes,
  componentsOf,
  documentOf,
  withRoutes,
} from '../../sessions/openapi/documented-routes.js';
import { COMPONENTS } from '../../sessions/openapi/sessions-document.js';
import { SUMMARY_ANSWERS, SUMMARY_PATH, SUMMARY_PATHS } from './summary-paths.js';
import { SUMMARY_SCHEMAS } from './summary-schemas.js';

const ROUTES: DocumentedRoutes = {
  tags: [{ name: 'summaries', description: 'What stands for the beginning of a conversation.' }],
  paths: SUMMARY_PATHS,
  components: componentsOf(SUMMARY_PATHS, {
    ...COMPONENTS,
    schemas: { ...COMPONENTS.schemas, ...SUMMARY_SCHEMAS },
    responses: { ...COMPONENTS.responses, ...SUMMARY_ANSWERS },
  }),
  landmark: SUMMARY_PATH,
};

/**
 * The routes of `SummarizerRestModule` as a document of OpenAPI 3.1.
 *
 * @param path what stands in front of `/apps`, such as `api/v1`
 * @example
 * writeFileSync('summaries.json', JSON.stringify(describeSummaryRoutes()));
 */
export function describeSummaryRoutes(path = ''): SessionsDocument {
  return documentOf(ROUTES, path);
}

/**
 * Describes the routes of summaries in the document of a whole app. Where they are mounted is seen from the document.
 *
 * @example
 * SwaggerModule.setup('docs', app, withSummaryRoutes(withSessionsRoutes(SwaggerModule.createDocument(app, config))));
 */
export function withSummaryRoutes(document: OpenAPIObject): OpenAPIObject {
  return withRoutes(document, ROUTES);
}
