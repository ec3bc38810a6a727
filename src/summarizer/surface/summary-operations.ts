import { checkedLimit } from '../../sessions/domain/values/paging.js';
import { referenceTo } from '../../sessions/domain/session/session.js';
import { PAGE, id } from '../../sessions/surface/ids-and-pages.js';
import { providedBy, rowOf, surface } from '../../sessions/surface/operation.js';
import { SESSION } from '../../sessions/surface/paths.js';
import { flag, integer, listOf, number, one, optional, shape, text } from '../../sessions/surface/shape.js';
import { SUMMARISES } from '../../sessions/transport/request-writes.js';
import type { SessionSummary } from '../session-summary.js';
import { type CoveredEvents, type SummaryOutlook, THRESHOLD_KINDS, type ThresholdState } from '../summary-outlook.js';
import {
  type GetSummaryRequest,
  type ListSummariesRequest,
  SummarizerSessionManager,
} from '../summarizer-session.manager.js';
import { SummaryNotFoundError } from '../summary-errors.js';

const SUMMARY_EXAMPLE = {
  sessionId: 'order-7',
  text: 'Ann asked to move the delivery of order 4711 to Friday; it was moved.',
  segments: 1,
  seq: 43,
  fromSeq: 1,
  toSeq: 32,
  createTime: 1_767_225_660_000,
  model: 'gpt-5-mini',
  promptVersion: '1',
  originalEventCount: 42,
  compressedEventCount: 11,
  compressionRatio: 73.8,
  inputTokens: 1_850,
  outputTokens: 24,
  durationMs: 1_210,
  isInForce: true,
};

const SUMMARY = shape<SessionSummary>('SessionSummary', {
  description:
    'A summary of the beginning of a conversation, or of what one branch saw of it, as it is stored in the log.',
  example: SUMMARY_EXAMPLE,
  fields: {
    sessionId: id(),
    branch: optional(text('The branch whose readers get it; missing for a summary of the whole conversation.')),
    text: text(),
    segments: integer('Of how many parts the text consists. A new part leaves those before it as they are.'),
    seq: integer('The number of the summary in the log.'),
    fromSeq: integer('The first event that it covers.'),
    toSeq: integer('The last event that it covers.'),
    createTime: { ...integer('Epoch milliseconds.'), schema: { type: 'number' } },
    model: optional(text()),
    promptVersion: optional(text()),
    originalEventCount: integer('Events in the view before it.'),
    compressedEventCount: integer('Events in the view after it.'),
    compressionRatio: number('By how many per cent the view became shorter.'),
    inputTokens: optional(integer()),
    outputTokens: optional(integer()),
    durationMs: optional(integer()),
    isInForce: flag('Whether readers see it: it was neither replaced by a later one nor rewound.'),
  },
});

const OUTLOOK_EXAMPLE: SummaryOutlook = {
  isDue: false,
  thresholds: [{ kind: 'tokens', value: 3_120, limit: 4_000, isMet: false }],
  wouldCover: { fromSeq: 1, toSeq: 32, events: 32 },
};

const THRESHOLD_STATE = shape<ThresholdState>('SummaryThreshold', {
  description: 'How far a threshold of summaries is.',
  fields: {
    kind: text(
      'What it compares, by the name of its setting; `branchEvents` only of a branch, `custom` for a condition in code.',
      { enum: THRESHOLD_KINDS },
    ),
    value: optional(number('Since the last summary; missing for a condition in code.')),
    limit: optional(number('The threshold is met above it; missing for a condition in code.')),
    isMet: flag(),
  },
});

const COVERED_EVENTS = shape<CoveredEvents>('CoveredEvents', {
  description: 'The events that a summary replaces.',
  fields: {
    fromSeq: integer('The first event.'),
    toSeq: integer('The last event.'),
    events: integer('How many of them are in the view now, without the present summary.'),
  },
});

const SUMMARY_OUTLOOK = shape<SummaryOutlook>('SummaryOutlook', {
  description: 'When the next summary comes, and what it would replace.',
  example: OUTLOOK_EXAMPLE,
  fields: {
    isDue: flag(
      'Whether the thresholds are met, and there are more events than `keepRecentEvents`. `branchEvents` alone makes a branch due.',
    ),
    thresholds: listOf(THRESHOLD_STATE),
    wouldCover: optional(
      one(COVERED_EVENTS, 'What a summary would cover if it was made now; missing if there is nothing to cover.'),
    ),
  },
});

interface SummaryList {
  readonly summaries: readonly SessionSummary[];
  readonly limit: number;
}

const SUMMARY_LIST = shape<SummaryList>('SummaryList', {
  example: { summaries: [SUMMARY_EXAMPLE], limit: 100 },
  fields: {
    summaries: listOf(
      SUMMARY,
      'Oldest first. If there are as many as `limit`, more may follow: ask for them with `afterSeq`.',
    ),
    limit: integer(),
  },
});

const NOT_FOUND = {
  code: 'SUMMARY_NOT_FOUND',
  description:
    'The session has no summary; or, with the code `SESSION_NOT_FOUND`, there is no such session, or you may not see it.',
};

/** The summaries that routes and fields serve. */
export const SERVED_SUMMARIES = providedBy('SummarizerModule', SummarizerSessionManager);

const row = rowOf<{ summaries: SummarizerSessionManager }>();

/** Summaries of a session: reads the current one, writes a new one, lists all. */
export const SUMMARIES = surface({
  tag: 'summaries',
  services: { summaries: SERVED_SUMMARIES.provide },
  operations: {
    getSummary: row({
      summary: 'Returns the summary that readers see',
      access: ['read', 'session'],
      request: {
        branch: optional(text('What readers of this branch get: its summary, or else that of the whole conversation.')),
      },
      result: SUMMARY,
      run: (request: GetSummaryRequest, { services }) => services.summaries.getSessionSummary(request),
      route: {
        at: `GET ${SESSION}/summary`,
        answers: 'The summary.',
        missing: ({ sessionId }: GetSummaryRequest) => new SummaryNotFoundError(sessionId),
        problems: { 404: NOT_FOUND },
      },
      graphql: { type: 'query', name: 'sessionSummary', isNullable: true },
    }),
    createSummary: row({
      summary: 'Summarises the session now, if a summary is due or by force',
      description:
        'Waits for the model, and for a summary that is already being written. The newest events are not summarised.',
      access: ['write', 'session', SUMMARISES],
      request: {
        force: optional(flag('Summarise even if it is not due yet.', { default: false })),
        branch: optional(text('Summarise what this branch sees, for its readers only.')),
      },
      result: SUMMARY,
      run: ({ force, branch, ...key }: GetSummaryRequest & { readonly force?: boolean }, { services }) =>
        services.summaries.createSessionSummary({ session: referenceTo(key), force, branch }),
      route: {
        at: `POST ${SESSION}/summary`,
        answers: 'The new summary.',
        body: { name: 'NewSummary', example: { force: true } },
        holds: 'what it did',
        others: [{ status: 204, description: 'There was nothing to summarise.' }],
        problems: { 502: { code: 'SUMMARY_FAILED', description: 'The model returned no summary. Nothing changed.' } },
      },
      graphql: {
        type: 'mutation',
        name: 'createSessionSummary',
        summary: 'Summarises the session now, if a summary is due or by force; null if there was nothing to do',
        isNullable: true,
        isWork: true,
      },
    }),
    getSummaryOutlook: row({
      summary: 'Says how far each threshold of summaries is, and what a summary would cover now',
      access: ['read', 'session'],
      request: { branch: optional(text('Of a summary of this branch. Default: of the whole conversation.')) },
      result: SUMMARY_OUTLOOK,
      run: (request: GetSummaryRequest, { services }) => services.summaries.outlook(request),
      route: { at: `GET ${SESSION}/summary/outlook`, answers: 'The outlook.' },
      graphql: { type: 'query', name: 'summaryOutlook' },
    }),
    listSummaries: row({
      summary: 'Lists all summaries in the log',
      access: ['read', 'session'],
      request: {
        limit: PAGE.limit,
        branch: optional(text('Only summaries of this branch. Default: those of the whole conversation.')),
        afterSeq: optional(integer('Only summaries after this event.')),
      },
      result: SUMMARY_LIST,
      async run(request: ListSummariesRequest, { services }) {
        const limit = checkedLimit(request.limit);
        return { summaries: await services.summaries.listSummaries({ ...request, limit }), limit };
      },
      route: { at: `GET ${SESSION}/summaries`, answers: 'The summaries.' },
      graphql: {
        type: 'query',
        name: 'sessionSummaries',
        result: listOf(SUMMARY),
        node: ({ summaries }: SummaryList) => summaries,
        counts: 'summaries',
      },
    }),
  },
});
