import { type GraphQLOutputType, getNullableType, isEnumType, isListType, isObjectType } from 'graphql';
import { type LoggedEvent, Session } from '../../src/index.js';
import type { SessionRecord } from '../../src/storage.js';

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

/** What the service returned: `answerOf`, backwards. The list of a page is called `items`. */
export function resultOf(type: GraphQLOutputType, answer: unknown, items = 'nodes'): unknown {
  const named = getNullableType(type);
  if (answer === undefined || answer === null) return undefined;
  if (isListType(named)) return (answer as readonly unknown[]).map((item) => resultOf(named.ofType, item));
  if (isEnumType(named)) return named.getValue(answer as string)?.value;
  if (!isObjectType(named)) return answer;
  const fields = named.getFields();
  const results = Object.entries(answer).map(([name, value]) => [
    name === 'nodes' ? items : name,
    fields[name] && resultOf(fields[name].type, value),
  ]);
  return wholeResult(named.name, Object.fromEntries(results.filter(([, value]) => value !== undefined)) as Values);
}

function wholeResult(name: string, { pageInfo, hadBefore, hasAfter, ...values }: Values): unknown {
  switch (name) {
    case 'Event':
      return values.body;
    case 'Session':
    case 'ListedSession':
      return sessionOf(values);
    case 'StateKeyChange':
      return {
        ...values,
        ...(hadBefore === true && { before: values.before ?? null }),
        ...(hasAfter === true && { after: values.after ?? null }),
      };
    default:
      return { ...values, ...(pageInfo !== undefined && nextOf(pageInfo as Values)) };
  }
}

function nextOf({ endCursor }: Values): Values {
  return endCursor === undefined ? {} : { nextCursor: endCursor };
}

function sessionOf({ id, state, metadata, events = [], version, conversationCount, ...rest }: Values): Session {
  const record = { ...rest, sessionId: id, lastSeq: version, counters: { turns: conversationCount } };
  return new Session(
    record as unknown as SessionRecord,
    state as Record<string, unknown>,
    events as LoggedEvent[],
    metadata as Session['metadata'],
  );
}
