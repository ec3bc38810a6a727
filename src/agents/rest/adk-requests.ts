import type { Type } from '@nestjs/common';
import { InvalidInputError } from '../../sessions/domain/errors/errors.js';
import type { SessionKey } from '../../sessions/domain/values/ids.js';
import type { UncheckedWrite } from '../../sessions/domain/write/write-description.js';
import { requestDto } from '../../sessions/rest/make-dto.js';
import { KEY_FIELDS } from '../../sessions/surface/ids-and-pages.js';
import { json, optional } from '../../sessions/surface/shape.js';
import type { AccessPlace } from '../../sessions/transport/session-access.js';
import { confirmationsIn } from '../invocation/approval-answers.js';
import { APPROVES, RUNS } from '../run-writes.js';
import { MESSAGE_EXAMPLE, RUN, type RunMessage } from '../surface/agent-shapes.js';

type Json = Readonly<Record<string, unknown>>;

/** The body of ADK's `/run` and `/run_sse`. */
export type AdkRun = SessionKey & RunMessage;

/** Checks and describes {@link AdkRun}. */
export const AdkRunBody = requestDto(
  {
    ...RUN,
    ...KEY_FIELDS,
    functionCallEventId: optional(json('Accepted, and not needed: the id of an approval says it.', { type: 'string' })),
  },
  'body',
  {
    name: 'AdkRun',
    description: 'Names may also be written as `app_name`, in all fields and in the parts of the message.',
    example: { appName: 'shop', userId: 'ann', sessionId: 'order-7', newMessage: MESSAGE_EXAMPLE, streaming: true },
  },
) as Type<AdkRun>;

/** The parts of a message with fields of their own. Arguments and responses of tools stay as they are. */
const NESTED = new Set(['inlineData', 'fileData', 'functionCall', 'functionResponse', 'videoMetadata']);

/**
 * A body with the names of ADK for TypeScript. ADK for Python also accepts names such as `app_name`, and sends `null` for what
 * is left out.
 */
export function adkBody(body: unknown): Json {
  const given = camelCased(body);
  const { newMessage } = given;
  if (!isObject(newMessage) || !Array.isArray(newMessage.parts)) return given;
  const parts = newMessage.parts.map((part: unknown) => (isObject(part) ? toCamelCasePart(part) : part));
  return { ...given, newMessage: { ...newMessage, parts } };
}

function toCamelCasePart(part: Json): Json {
  const named = Object.entries(camelCased(part));
  return Object.fromEntries(
    named.map(([name, value]) => [name, NESTED.has(name) && isObject(value) ? camelCased(value) : value]),
  );
}

function camelCased(body: unknown): Json {
  if (!isObject(body)) return {};
  const named = Object.entries(body).filter(([, value]) => value !== null);
  return Object.fromEntries(
    named.map(([name, value]) => [
      name.replaceAll(/(?<=[a-z])_([a-z])/g, (_, next: string) => next.toUpperCase()),
      value,
    ]),
  );
}

/** The session of a body. */
export function adkPlace(body: Json): Required<AccessPlace> {
  const { appName, userId, sessionId } = adkBody(body);
  for (const [name, value] of Object.entries({ appName, userId, sessionId })) {
    if (typeof value !== 'string')
      throw new InvalidInputError(value === undefined ? 'is missing' : 'must be a string', name);
  }
  return { appName, userId, sessionId } as Required<AccessPlace>;
}

/** The answers to approvals that a body consists of. */
export function adkAnswers({ newMessage }: Json): ReturnType<typeof confirmationsIn> {
  return isObject(newMessage) && Array.isArray(newMessage.parts) && newMessage.parts.every(isObject)
    ? confirmationsIn(newMessage)
    : [];
}

/** What a body writes: an answer to an approval, or a message. */
export const RUNS_AS_ADK = (input: Json): UncheckedWrite => {
  const body = adkBody(input);
  return adkAnswers(body).length > 0 ? APPROVES() : RUNS(body);
};

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
