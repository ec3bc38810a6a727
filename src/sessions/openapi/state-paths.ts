import { answer, json, problems } from './answers.js';
import type { PathItem, Paths } from './document-types.js';
import { EXAMPLES } from './examples.js';
import { parameters } from './parameters.js';

const tags = ['state'];

const ofSession: PathItem = {
  parameters: parameters('appName', 'userId', 'sessionId'),
  get: {
    operationId: 'getSessionState',
    tags,
    summary: 'All state that the session sees, with the prefixes of its scopes',
    responses: { 200: answer('The state.', json('State', EXAMPLES.state), 'ETag'), ...problems(404) },
  },
  patch: {
    operationId: 'updateSessionState',
    tags,
    summary: 'Changes state by one event of the author `system`',
    parameters: parameters('ifMatch'),
    requestBody: { required: true, content: json('StateChange', EXAMPLES.stateChange) },
    responses: {
      200: answer('The event.', json('Event', EXAMPLES.event), 'ETag'),
      ...problems(403, 404, 412, 413, 415),
    },
  },
};

const ofUser: PathItem = {
  parameters: parameters('appName', 'userId'),
  get: {
    operationId: 'getUserState',
    tags,
    summary: 'What all sessions of a user share; keys without `user:`',
    responses: { 200: answer('The state.', json('State', EXAMPLES.sharedState)), ...problems(403) },
  },
  patch: {
    operationId: 'updateUserState',
    tags,
    summary: 'Changes what all sessions of a user share; keys with or without `user:`',
    requestBody: { required: true, content: json('StateChange', EXAMPLES.sharedStateChange) },
    responses: {
      200: answer('The state as it is now.', json('State', EXAMPLES.sharedState)),
      ...problems(403, 413, 415),
    },
  },
};

const ofApp: PathItem = {
  parameters: parameters('appName'),
  get: {
    operationId: 'getAppState',
    tags,
    summary: 'What all sessions of an app share; keys without `app:`',
    responses: { 200: answer('The state.', json('State', EXAMPLES.sharedState)), ...problems(403) },
  },
  patch: {
    operationId: 'updateAppState',
    tags,
    summary: 'Changes what all sessions of an app share; keys with or without `app:`',
    requestBody: { required: true, content: json('StateChange', EXAMPLES.sharedStateChange) },
    responses: {
      200: answer('The state as it is now.', json('State', EXAMPLES.sharedState)),
      ...problems(403, 413, 415),
    },
  },
};

export const STATE_PATHS: Paths = {
  '/apps/{appName}/users/{userId}/sessions/{sessionId}/state': ofSession,
  '/apps/{appName}/users/{userId}/state': ofUser,
  '/apps/{appName}/state': ofApp,
};
