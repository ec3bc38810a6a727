/** What a request over GraphQL may hold, as far as it is used here. */
interface GraphqlBody {
  readonly operationName?: unknown;
  readonly query?: unknown;
}

const NAME = /^[_A-Za-z]\w{0,63}$/;
const ONLY_OPERATION = /^\s*(?:query|mutation|subscription)\s+([_A-Za-z]\w{0,63})\b/;

/** How an operation is called, and nothing of what it says; `undefined` where it has no name. */
export function operationNameIn(body: unknown): string | undefined {
  const { operationName, query } = (body ?? {}) as GraphqlBody;
  if (typeof operationName === 'string') return NAME.test(operationName) ? operationName : undefined;
  return typeof query === 'string' ? ONLY_OPERATION.exec(query)?.[1] : undefined;
}
