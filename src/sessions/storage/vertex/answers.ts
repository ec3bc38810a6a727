import { isPlainObject } from '../../domain/values/json-value.js';
import { VertexError } from './vertex-error.js';
import type { EventPage, Operation, SessionPage, VertexEvent, VertexSession } from './wire.js';

/** Whether an answer has the fields that the store reads. A proxy on the way may answer something else. */
type Fits<Answer> = (answer: unknown) => answer is Answer;

const isMissingOr = (type: string, value: unknown): boolean => value === undefined || typeof value === type;

const isSession: Fits<VertexSession> = (answer): answer is VertexSession =>
  isPlainObject(answer) && [answer.name, answer.userId, answer.createTime].every((field) => typeof field === 'string');

const isEvent: Fits<VertexEvent> = (answer): answer is VertexEvent =>
  isPlainObject(answer) && typeof answer.timestamp === 'string' && isMissingOr('string', answer.name);

const isOperation: Fits<Operation> = (answer): answer is Operation =>
  isPlainObject(answer) && isMissingOr('string', answer.name);

function isPageOf(answer: unknown, list: string, fits: Fits<unknown>): boolean {
  if (!isPlainObject(answer) || !isMissingOr('string', answer.nextPageToken)) return false;
  const items = answer[list] ?? [];
  return Array.isArray(items) && items.every(fits);
}

const isEventPage: Fits<EventPage> = (answer): answer is EventPage => isPageOf(answer, 'sessionEvents', isEvent);
const isSessionPage: Fits<SessionPage> = (answer): answer is SessionPage => isPageOf(answer, 'sessions', isSession);

const checked =
  <Answer>(fits: Fits<Answer>, { outcomeUnknown = false } = {}) =>
  (answer: unknown): Answer => {
    if (fits(answer)) return answer;
    throw new VertexError('The answer is none of the API of Vertex AI. Is there a proxy on the way?', outcomeUnknown);
  };

export const sessionIn = checked(isSession);
export const eventPageIn = checked(isEventPage);
export const sessionPageIn = checked(isSessionPage);
/** The one who sent the request does not know what came of it. */
export const operationIn = checked(isOperation, { outcomeUnknown: true });
