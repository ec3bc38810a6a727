import { InvalidInputError } from '../sessions/domain/errors/errors.js';
import { assertEventShape } from '../sessions/domain/write/event-shape.js';
import { type EventInput, isTimestampGiven } from '../sessions/domain/event/event.js';
import { assertId } from '../sessions/domain/values/ids.js';
import { underPath } from '../sessions/domain/values/input-checks.js';
import { jsonCopyOf } from '../sessions/domain/values/json-value.js';
import { type SessionFilter, filterEntries } from '../sessions/domain/metadata/session-filter.js';
import type { TurnReference } from '../sessions/operations/turns.js';
import type { RemoteListRequest } from './remote-types.js';
import type { RequestOptions } from './requests.js';

/** The condition of a write. */
export function conditionOf(expectedVersion: number | undefined): Record<string, string> {
  return expectedVersion === undefined ? {} : { 'If-Match': `"${String(expectedVersion)}"` };
}

/** The turn of a write. */
export function turnHeaders(turn: TurnReference | undefined, endTurn?: boolean): Record<string, string> {
  if (turn === undefined) return endTurn === true ? { 'Turn-End': 'true' } : {};
  const token: unknown = typeof turn === 'string' ? turn : turn.token;
  assertId(token, 'turn');
  return { 'Turn-Token': token, ...(endTurn !== undefined && { 'Turn-End': String(endTurn) }) };
}

/** Larger than any server limit. They only bound the walk. */
const MAX_BYTES = 64 * 1024 * 1024;
const LIMITS = { maxDepth: 1_000, maxBytes: MAX_BYTES, maxEventBytes: MAX_BYTES, maxDeltaKeys: Infinity };

/** Refuses values that JSON would change or drop, such as NaN. */
export function checkedBody<Body extends object>(body: Body): Body {
  return jsonCopyOf(body, '$', LIMITS) as Body;
}

/** The event to send, with an id for retries. */
export function eventBody(event: EventInput): EventInput {
  assertEventShape(event);
  const { timestamp, actions, ...fields } = event;
  const body = {
    ...fields,
    id: event.id ?? crypto.randomUUID(),
    ...(actions && { actions: { ...actions } }),
    // A timestamp that a constructor filled in differs between retries.
    ...(isTimestampGiven(event) && { timestamp }),
  };
  return checkedBody(body);
}

/** The events to send together, without partial ones. Errors name their place. */
export function eventBodies(events: readonly EventInput[]): EventInput[] {
  if (!Array.isArray(events)) throw new InvalidInputError('must be an array of events', '$.events');
  return (events as readonly EventInput[]).flatMap((event, index) =>
    event?.partial === true ? [] : [underPath(`$.events[${index}]`, () => eventBody(event))],
  );
}

/** The parameters of a list. */
export function listQuery({
  limit,
  cursor,
  order,
  orderBy,
  page,
  offset,
  includeState,
  filter,
}: RemoteListRequest): RequestOptions['query'] {
  return { limit, cursor, order, orderBy, page, offset, includeState, ...(filter && filterQuery(filter)) };
}

/** Checked here, since a URL has no place for values of other types and for other names, and would change some texts. */
function filterQuery(filter: SessionFilter): RequestOptions['query'] {
  filterEntries(filter, 'filter', LIMITS);
  const { status, tags, labels } = filter;
  return {
    status: status ?? undefined,
    tag: tags ?? undefined,
    label: labels && Object.entries(labels).map((label) => label.map(encodeURIComponent).join(':')),
  };
}
