import type { OpenAPIObject } from '@nestjs/swagger';

/** The document, with a number at the id of an operation that is there again: routes of sessions may serve two stores. */
export function withDistinctIds(document: OpenAPIObject): OpenAPIObject {
  const seen = new Map<string, number>();
  const paths = Object.entries(document.paths).map(([path, item]) => {
    const operations = Object.entries(item).map(([method, operation]) => [method, distinct(operation, seen)] as const);
    return [path, Object.fromEntries(operations)] as const;
  });
  return { ...document, paths: Object.fromEntries(paths) };
}

function distinct(operation: unknown, seen: Map<string, number>): unknown {
  if (typeof operation !== 'object' || operation === null || !('operationId' in operation)) return operation;
  const id = String(operation.operationId);
  const count = (seen.get(id) ?? 0) + 1;
  seen.set(id, count);
  return count === 1 ? operation : { ...operation, operationId: `${id}_${count}` };
}
