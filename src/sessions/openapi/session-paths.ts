import { answer, json, problems } from './answers.js';
import type { Operation, PathItem, Paths, RequestBody } from './document-types.js';
import { EXAMPLES, SESSION_EXAMPLE, SESSION_PAGE_EXAMPLE } from './examples.js';
import { parameters } from './parameters.js';

const tags = ['sessions'];
const session = json('Session', SESSION_EXAMPLE);
const created = answer('The new session.', session, 'ETag', 'Location');

function optional(schema: string, example: unknown): RequestBody {
  return { required: false, content: json(schema, example) };
}

const sessions: PathItem = {
  parameters: parameters('appName', 'userId'),
  get: {
    operationId: 'listSessions',
    tags,
    summary: 'A page of the sessions of a user, without their events',
    parameters: parameters('limit', 'cursor', 'newestFirst', 'orderBy', 'page', 'offset'),
    responses: { 200: answer('The page.', json('SessionPage', SESSION_PAGE_EXAMPLE), 'Link'), ...problems(403) },
  },
  post: {
    operationId: 'createSession',
    tags,
    summary: 'Creates a session',
    requestBody: optional('NewSession', EXAMPLES.newSession),
    responses: { 201: created, ...problems(403, 409, 413, 415) },
  },
};

const createWithId: Operation = {
  operationId: 'createSessionWithId',
  tags,
  summary: 'Creates a session with this id',
  requestBody: optional('NewSessionWithId', EXAMPLES.newSessionWithId),
  responses: { 201: created, ...problems(403, 409, 413, 415) },
};

const one: PathItem = {
  parameters: parameters('appName', 'userId', 'sessionId'),
  get: {
    operationId: 'getSession',
    tags,
    summary: 'The session, with what a reader is shown of its log',
    parameters: parameters('numRecentEvents', 'afterTimestamp', 'afterSeq'),
    responses: { 200: answer('The session.', session, 'ETag'), ...problems(404) },
  },
  post: createWithId,
  delete: {
    operationId: 'deleteSession',
    tags,
    summary: 'Deletes the session with its events; shared state stays',
    responses: { 204: answer('It is gone, whether it was there or not.', undefined), ...problems() },
  },
};

const rewind: PathItem = {
  parameters: parameters('appName', 'userId', 'sessionId'),
  post: {
    operationId: 'rewindSession',
    tags,
    summary: 'Takes the session back to a moment, with its own state',
    description: 'By one more event: the log keeps everything, so that a rewind can be taken back by another one.',
    parameters: parameters('ifMatch'),
    requestBody: { required: true, content: json('Rewind', EXAMPLES.rewind) },
    responses: { 200: answer('The session as it is now.', session, 'ETag'), ...problems(404, 409, 412, 413, 415) },
  },
};

const fork: PathItem = {
  parameters: parameters('appName', 'userId', 'sessionId'),
  post: {
    operationId: 'forkSession',
    tags,
    summary: 'Makes a new session of what this one shows, or showed at a moment',
    requestBody: optional('Fork', EXAMPLES.fork),
    responses: { 201: created, ...problems(403, 404, 409, 413, 415) },
  },
};

const SESSIONS = '/apps/{appName}/users/{userId}/sessions';

export const SESSION_PATHS: Paths = {
  [SESSIONS]: sessions,
  [`${SESSIONS}/{sessionId}`]: one,
  [`${SESSIONS}/{sessionId}/rewind`]: rewind,
  [`${SESSIONS}/{sessionId}/fork`]: fork,
};
