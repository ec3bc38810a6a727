import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, getSchemaPath } from '@nestjs/swagger';
import { ApiProblem, ApiProblems, ApiResult, STREAM_HEADERS } from '../../sessions/rest/api-responses.js';
import { EVENT_EXAMPLE, EventDto } from '../../sessions/rest/dto/event.dto.js';

const HELD = { code: 'TURN_HELD', description: 'Another turn runs, and the policy is `reject`.' };
const UNKNOWN = {
  code: 'AGENT_NOT_FOUND',
  description:
    'No agent answers messages of this app; or, with the code `SESSION_NOT_FOUND`, there is no such session.',
};

const CLOSING = {
  code: 'AGENTS_CLOSING',
  description:
    'This instance closes: send the request again with the same `invocationId`. Or, with the code `STORE_UNAVAILABLE`, the store ' +
    'did not answer.',
};

const FULL = {
  code: 'RUN_LIMIT_REACHED',
  description:
    'Too many runs at once, or too much waits: send the message again. Or, with the code `BUDGET_EXCEEDED`, a budget is used up.',
};

/** Documents events as the result of a route. */
export const ApiEvents = (description: string): MethodDecorator =>
  applyDecorators(
    ApiExtraModels(EventDto),
    ApiResult(200, description, {
      schema: { type: 'array', items: { $ref: getSchemaPath(EventDto) } },
      example: [EVENT_EXAMPLE],
    }),
  );

/** Documents a stream that ends. */
export const ApiEventStream = (example: string): MethodDecorator =>
  ApiResult(200, 'A stream that ends with the answer.', {
    content: { 'text/event-stream': { schema: { type: 'string' }, example } },
    ownHeaders: STREAM_HEADERS,
  });

/** Documents the problems of a run. */
export const ApiRunProblems = (): MethodDecorator =>
  applyDecorators(
    ApiProblems(403, 413, 415),
    ApiProblem(404, UNKNOWN),
    ApiProblem(409, HELD),
    ApiProblem(429, FULL),
    ApiProblem(503, CLOSING),
  );
