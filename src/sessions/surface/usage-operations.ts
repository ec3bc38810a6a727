import type { PricedUsage } from '../domain/usage/usage-cost.js';
import type { TokenUsage } from '../domain/usage/usage.js';
import type { GetUsageRequest, UsageReport } from '../operations/get-usage.js';
import { readsOf } from '../reads-of.js';
import type { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import { id } from './ids-and-pages.js';
import { type GraphqlField, type Operation, rowOf, surface } from './operation.js';
import { APP, SESSION, USER } from './paths.js';
import { QUOTA_USE } from './problem-shape.js';
import { type Fields, graphqlOnly, integer, listOf, one, optional, shape, text } from './shape.js';

const COST = 'In millionths of the currency of the price table.';

const TOKENS_EXAMPLE = {
  events: 2,
  promptTokens: 620,
  cachedTokens: 400,
  outputTokens: 240,
  thinkingTokens: 80,
  toolUseTokens: 0,
  totalTokens: 940,
};

const TOKEN_USAGE = shape<TokenUsage>('TokenUsage', {
  description: 'Tokens that models reported.',
  example: TOKENS_EXAMPLE,
  fields: {
    events: integer('Events with `usageMetadata`.'),
    promptTokens: integer('Tokens of prompts, cached ones included.'),
    cachedTokens: integer('Tokens of prompts that came from a cache.'),
    outputTokens: integer('Tokens of answers, without thinking.'),
    thinkingTokens: integer(),
    toolUseTokens: integer('Tokens of tool results that a provider put into prompts.'),
    totalTokens: integer(),
  },
});

const MODEL_EXAMPLE = { model: 'gemini-2.5-flash', ...TOKENS_EXAMPLE, costMicros: 876 };

const MODEL_USAGE = shape<PricedUsage>('ModelUsage', {
  description: 'Tokens of one model.',
  example: MODEL_EXAMPLE,
  fields: {
    ...(TOKEN_USAGE.fields as Record<keyof TokenUsage, Fields[string]>),
    model: text('The `modelVersion` of events; `unknown` for events without it.'),
    costMicros: optional(integer(`${COST} Missing for a model without price.`)),
  },
});

const USAGE_REPORT = shape<UsageReport>('UsageReport', {
  description: 'Tokens that were used, and what they cost.',
  example: {
    appName: 'shop',
    userId: 'ann',
    period: '2026-11',
    models: [MODEL_EXAMPLE],
    total: TOKENS_EXAMPLE,
    costMicros: 876,
    unpricedModels: [],
  },
  fields: {
    appName: id(),
    userId: optional(id()),
    sessionId: optional(id()),
    period: text('`total`, or the name of a month or a day.'),
    models: listOf(MODEL_USAGE),
    total: one(TOKEN_USAGE, 'All models together.'),
    costMicros: optional(integer(`${COST} Missing if a model has no price.`)),
    unpricedModels: listOf(text(), 'Models without price.'),
    quotas: optional(listOf(QUOTA_USE, 'The quotas of the user or the app, now. Only if there are any.')),
  },
});

const PERIOD = optional(
  text(
    '`total`, the UTC `month` or `day` of now, or one by name, such as `2026-11` or `2026-11-23`. A session has `total` only.',
    { default: 'total' },
  ),
);

const row = rowOf<{ sessions: SessionService }>();

type UsageOperation = Operation<{ sessions: SessionService }>;

const report = (
  at: string,
  access: UsageOperation['access'],
  summary: string,
  graphql?: Pick<GraphqlField, 'name' | 'summary'> & { readonly request?: Fields },
): UsageOperation =>
  row({
    summary,
    access,
    request: { period: PERIOD, ...graphql?.request },
    result: USAGE_REPORT,
    run: (request: GetUsageRequest, { services }) => readsOf(services.sessions).getUsage(request),
    route: { at: `GET ${at}/usage`, answers: 'The tokens, and what they cost.', holds: 'little' },
    ...(graphql && {
      graphql: { type: 'query', ...graphql, items: ({ models }: UsageReport) => models.length + 1 },
    }),
  });

/** Tokens and cost. Whoever may list the sessions of a user or an app may read its usage. */
export const USAGE = surface({
  tag: 'usage',
  services: { sessions: SERVED_SESSIONS },
  operations: {
    getSessionUsage: report(SESSION, ['read', 'session'], 'Returns the tokens that a session used, by model', {
      name: 'sessionUsage',
    }),
    getUserUsage: report(USER, ['list', 'sessions'], 'Returns the tokens that a user used in all sessions'),
    getAppUsage: report(APP, ['list', 'sessions'], 'Returns the tokens that all users of an app used', {
      name: 'usage',
      summary: 'Returns the tokens that a user or all users of an app used, by model',
      request: { userId: graphqlOnly(optional(text('All users of the app if it is left out.'))) },
    }),
  },
});
