import { answer, json, problemAnswer, problems } from '../../sessions/openapi/answers.js';
import type { Answer, PathItem, Paths } from '../../sessions/openapi/document-types.js';
import { parameters } from '../../sessions/openapi/parameters.js';
import { SUMMARY_EXAMPLE } from './summary-schemas.js';

const tags = ['summaries'];
const summary = json('SessionSummary', SUMMARY_EXAMPLE);

/** Problems that only these routes have. */
export const SUMMARY_ANSWERS: Readonly<Record<string, Answer>> = {
  SummaryNotFound: problemAnswer(
    404,
    'SUMMARY_NOT_FOUND',
    'The session has no summary; or, with the code `SESSION_NOT_FOUND`, there is no such session, or it is none of the ' +
      'business of whoever asks.',
  ),
  SummaryFailed: problemAnswer(502, 'SUMMARY_FAILED', 'The model gave no summary. Nothing was changed.'),
};

const ofSession: PathItem = {
  parameters: parameters('appName', 'userId', 'sessionId'),
  get: {
    operationId: 'getSummary',
    tags,
    summary: 'The summary that readers of the session see',
    responses: {
      200: answer('The summary.', summary),
      ...problems(),
      404: { $ref: '#/components/responses/SummaryNotFound' },
    },
  },
  post: {
    operationId: 'createSummary',
    tags,
    summary: 'Summarises the session now, if that is due, or by force',
    description:
      'Waits for the model, and for whoever summarises the session already. The newest events stay as they are.',
    requestBody: { required: false, content: json('NewSummary', { force: true }) },
    responses: {
      201: answer('The new summary.', summary),
      204: answer('There was nothing to do.', undefined),
      ...problems(404, 413, 415),
      502: { $ref: '#/components/responses/SummaryFailed' },
    },
  },
};

const list: PathItem = {
  parameters: parameters('appName', 'userId', 'sessionId'),
  get: {
    operationId: 'listSummaries',
    tags,
    summary: 'The summaries that the log keeps, also those that are not in force any more',
    parameters: parameters('limit', 'afterSeq'),
    responses: {
      200: answer('The summaries.', json('SummaryList', { summaries: [SUMMARY_EXAMPLE], limit: 100 })),
      ...problems(404),
    },
  },
};

export const SUMMARY_PATH = '/apps/{appName}/users/{userId}/sessions/{sessionId}/summary';

export const SUMMARY_PATHS: Paths = {
  [SUMMARY_PATH]: ofSession,
  '/apps/{appName}/users/{userId}/sessions/{sessionId}/summaries': list,
};
