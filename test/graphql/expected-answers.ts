import { type GraphQLOutputType, getNullableType, isEnumType, isListType, isObjectType } from 'graphql';

type Values = Readonly<Record<string, unknown>>;

/** What GraphQL does not repeat, or has in `nodes` and `pageInfo`. Of an event, `body` has everything. */
const NOT_SHOWN: Readonly<Record<string, readonly string[]>> = {
  Turn: ['appName', 'userId', 'sessionId'],
  ListedSession: ['events', 'eventsTruncated'],
  SessionConnection: ['sessions', 'limit', 'nextCursor', 'page', 'totalItems', 'totalPages'],
  EventConnection: ['events', 'nextCursor'],
  ExplainedEventConnection: ['events', 'nextCursor'],
  SearchHitConnection: ['hits', 'nextCursor'],
  StateChangeConnection: ['changes', 'nextCursor'],
};

/** What GraphQL answers for a value, with all fields selected: there are no missing ones, and none is lost. */
export function answerOf(type: GraphQLOutputType, value: unknown): unknown {
  const named = getNullableType(type);
  if (value === undefined || value === null) return null;
  if (isListType(named)) return (value as readonly unknown[]).map((item) => answerOf(named.ofType, item));
  if (isEnumType(named)) return named.getValues().find((each) => each.value === value)?.name;
  if (!isObjectType(named)) return value;
  const fields = named.getFields();
  const hidden = new Set(NOT_SHOWN[named.name]);
  const lost = 'body' in fields ? [] : Object.keys(value).filter((name) => !(name in fields) && !hidden.has(name));
  if (lost.length > 0) throw new Error(`${named.name} does not show ${lost.join(', ')}`);
  return Object.fromEntries(
    Object.values(fields).map((field) => [field.name, answerOf(field.type, shown(field.name, value as Values))]),
  );
}

/** The value of a field that GraphQL adds, or that has the same name. */
function shown(name: string, value: Values): unknown {
  switch (name) {
    case 'body':
      return value;
    case 'nodes':
      return Object.values(value).find((each) => Array.isArray(each));
    case 'pageInfo':
      return { hasNextPage: value.nextCursor !== undefined, endCursor: value.nextCursor };
    case 'hadBefore':
      return 'before' in value;
    case 'hasAfter':
      return 'after' in value;
    default:
      return value[name];
  }
}
