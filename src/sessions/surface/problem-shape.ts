import { QUOTA_NAMES } from '../../config/quota-settings.js';
import type { ExceededBudget } from '../domain/errors/budget-error.js';
import type { QuotaUse } from '../domain/errors/quota-error.js';
import type { Problem } from '../transport/problems.js';
import { flag, integer, listOf, one, optional, shape, text } from './shape.js';

const EXCEEDED_BUDGET = shape<ExceededBudget>('ExceededBudget', {
  fields: {
    scope: text(undefined, { enum: ['session', 'user', 'app'] }),
    period: text(undefined, { enum: ['total', 'month', 'day'] }),
    unit: text('Micros are millionths of a currency.', { enum: ['tokens', 'micros'] }),
    used: integer(),
    limit: integer(),
    reserved: optional(flag('Whether runs at work may need the rest.')),
    resetsAt: optional(integer('When the period ends.')),
  },
});

/** What is used of a quota. */
export const QUOTA_USE = shape<QuotaUse>('QuotaUse', {
  description: 'What is used of a quota.',
  example: { scope: 'user', quota: 'appendsPerMinute', used: 600, limit: 600, resetsAt: 1_763_900_040_000 },
  fields: {
    scope: text('`process`: the instance that answered.', { enum: ['user', 'app', 'process'] }),
    quota: text(undefined, { enum: QUOTA_NAMES }),
    used: integer(),
    limit: integer(),
    resetsAt: optional(integer('When a new minute or day begins; missing for sessions and stored bytes.')),
  },
});

/** What went wrong, for all routes. */
export const PROBLEM = shape<Problem>('Problem', {
  description: 'What went wrong, as RFC 9457 describes it.',
  fields: {
    type: text(undefined, { format: 'uri-reference' }),
    title: text(),
    status: integer(undefined, { minimum: 400, maximum: 599 }),
    detail: text('For people: what to do about it.'),
    error: optional(text('The same as `detail`, for clients of ADK.')),
    code: text('For programs: it never changes.'),
    path: optional(text('Where in the request the problem is.')),
    currentVersion: optional(integer('The version of the session after a failed condition.')),
    outcomeUnknown: optional(flag('Whether the write may have happened.')),
    eventId: optional(text('The id to retry the append with.')),
    eventIds: optional(listOf(text(), 'The ids to retry an append of several events with.')),
    holder: optional(text('Who holds the turn.')),
    expiresAt: optional(integer('When the turn is over unless it is renewed.')),
    budget: optional(one(EXCEEDED_BUDGET, 'The budget that is used up.')),
    quota: optional(one(QUOTA_USE, 'The quota that is used up.')),
    reason: optional(text('Why the agent failed.', { enum: ['RATE_LIMITED', 'TIMEOUT', 'UNAVAILABLE', 'FAULT'] })),
    retryable: optional(flag('Whether the agent may succeed later.')),
    invocationId: optional(text('The invocation in which the agent failed.')),
  },
});
