import type { Parameter, Reference, Schema } from './document-types.js';

const id: Schema = { type: 'string', minLength: 1, maxLength: 191 };
const count: Schema = { type: 'integer', minimum: 0 };

function query(name: string, description: string, schema: Schema): Parameter {
  return { name, in: 'query', description, schema };
}

/** Parameters by the names under which the operations refer to them. */
export const PARAMETERS = {
  appName: { name: 'appName', in: 'path', required: true, description: 'The app.', schema: id, example: 'shop' },
  userId: { name: 'userId', in: 'path', required: true, description: 'The user.', schema: id, example: 'ann' },
  sessionId: {
    name: 'sessionId',
    in: 'path',
    required: true,
    description: 'The session.',
    schema: id,
    example: 'order-7',
  },
  limit: query('limit', 'How many a page has.', { ...count, maximum: 1_000, default: 100 }),
  cursor: query('cursor', 'The `nextCursor` of the page before.', { type: 'string' }),
  newestFirst: query('order', 'Newest first unless said otherwise.', {
    type: 'string',
    enum: ['asc', 'desc'],
    default: 'desc',
  }),
  oldestFirst: query('order', 'Oldest first unless said otherwise.', {
    type: 'string',
    enum: ['asc', 'desc'],
    default: 'asc',
  }),
  orderBy: query('orderBy', 'By `createTime` a walk through all pages is complete even while sessions change.', {
    type: 'string',
    enum: ['lastUpdateTime', 'createTime'],
    default: 'lastUpdateTime',
  }),
  page: query('page', 'Counted from 1, with totals; instead of `cursor`.', { type: 'integer', minimum: 1 }),
  offset: query('offset', 'How many to skip, with totals; instead of `cursor`.', { ...count, maximum: 10_000 }),
  numRecentEvents: query('numRecentEvents', 'Only so many of the newest events; 0 for none.', count),
  afterTimestamp: query('afterTimestamp', 'Only events of this time or later, in epoch milliseconds.', count),
  afterSeq: query('afterSeq', 'Only events after this one.', count),
  beforeSeq: query('beforeSeq', 'Only events before this one.', count),
  lastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'The last event that is known; browsers send it when they connect again. It goes before `afterSeq`.',
    schema: { type: 'string', pattern: '^\\d{1,15}$' },
  },
  ifMatch: {
    name: 'If-Match',
    in: 'header',
    description: 'Write only if the session is at this version, as `ETag` said it; `*` takes any.',
    schema: { type: 'string', pattern: '^(\\*|"\\d+")$' },
    example: '"1"',
  },
  idempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'The id of the event, where the body has none. Sent again, the event is stored once.',
    schema: id,
  },
} as const satisfies Readonly<Record<string, Parameter>>;

export function parameters(...names: (keyof typeof PARAMETERS)[]): Reference[] {
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}
