import type { OpenAPIObject } from '@nestjs/swagger';
import type { Components, Paths, SessionsDocument, Tag } from './document-types.js';

/** Routes that are mounted together, and all that their descriptions may refer to. */
export interface DocumentedRoutes {
  readonly tags: readonly Tag[];
  readonly paths: Paths;
  readonly components: Components;
  /** A path that every mounting of the routes has, and no other routes are likely to have. */
  readonly landmark: string;
}

/** The routes as a document of their own, behind whatever stands in front of `/apps`. */
export function documentOf({ tags, paths, components }: DocumentedRoutes, path: string): SessionsDocument {
  const prefix = path.replace(/^\/*(.*?)\/*$/, (_, inner: string) => (inner === '' ? '' : `/${inner}`));
  return {
    openapi: '3.1.0',
    info: { title: 'Agent sessions', version: '1' },
    tags,
    paths: Object.fromEntries(Object.entries(paths).map(([own, item]) => [prefix + own, item])),
    components,
  };
}

/** A document with these routes described as well, where it says that they are mounted. */
export function withRoutes(document: OpenAPIObject, routes: DocumentedRoutes): OpenAPIObject {
  const { landmark } = routes;
  const place = Object.keys(document.paths).find((path) => path.endsWith(landmark));
  if (place === undefined) return document;
  const { paths, components, tags } = documentOf(routes, place.slice(0, -landmark.length));
  // The types of @nestjs/swagger can be changed, ours cannot.
  const own = structuredClone({ paths, components, tags }) as unknown as Required<
    Pick<OpenAPIObject, 'paths' | 'components' | 'tags'>
  >;
  return {
    ...document,
    tags: [...(document.tags ?? []), ...own.tags],
    paths: { ...document.paths, ...own.paths },
    components: {
      ...document.components,
      schemas: { ...document.components?.schemas, ...own.components.schemas },
      parameters: { ...document.components?.parameters, ...own.components.parameters },
      headers: { ...document.components?.headers, ...own.components.headers },
      responses: { ...document.components?.responses, ...own.components.responses },
    },
  };
}

/** The components that paths refer to, and those that these refer to. */
export function componentsOf(paths: Paths, all: Components): Components {
  const found = new Map<string, unknown>();
  const visit = (text: string): void => {
    for (const [, kind = '', name = ''] of text.matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
      const component = all[kind as keyof Components]?.[name];
      if (component === undefined || found.has(`${kind}/${name}`)) continue;
      found.set(`${kind}/${name}`, component);
      visit(JSON.stringify(component));
    }
  };
  visit(JSON.stringify(paths));
  const kinds = Object.entries(all as object).map(([kind, parts]) => [
    kind,
    Object.fromEntries(Object.entries(parts as object).filter(([name]) => found.has(`${kind}/${name}`))),
  ]);
  return Object.fromEntries(kinds) as Components;
}
