import type { SessionKey } from '../domain/values/ids.js';
import { DEFAULT_LIMIT } from '../domain/values/paging.js';
import { type Choice, type Field, type Fields, integer, optional, text } from './shape.js';

/** An id of an app, a user or a session. */
export const ID = { type: 'string', minLength: 1, maxLength: 191 } as const;

export const id = (description?: string): Field => text(description, ID);

/** The ids of a session. */
export const KEY_FIELDS = { appName: id(), userId: id(), sessionId: id() } satisfies Record<keyof SessionKey, Field>;

export const EPOCH = 'Epoch milliseconds, by the clock of the store.';

/** What all requests for a page have. In GraphQL they are `first` and `after`. */
export const PAGE = {
  limit: optional({
    ...integer('Items per page.', { maximum: 1_000, default: DEFAULT_LIMIT }),
    int32: { default: DEFAULT_LIMIT },
  }),
  cursor: optional(text('The `nextCursor` of the previous page.')),
} satisfies Fields;

/** What reads have that may be a little old. */
export const SEEN = {
  minSeq: optional(integer('The last event that you have seen: the answer has it, also if a read replica answers.')),
} satisfies Fields;

export const SORT_ORDER: Choice = {
  name: 'SortOrder',
  description: 'Ascending or descending.',
  values: ['asc', 'desc'],
};
