import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, getSchemaPath } from '@nestjs/swagger';
import { ApiEventStream, ApiProblem, ApiProblems, ApiResult } from '../../sessions/rest/api-responses.js';
import { dtoOf } from '../../sessions/rest/make-dto.js';
import { EVENT, EVENT_EXAMPLE } from '../../sessions/surface/event-shapes.js';
import { RUN_PROBLEMS } from '../surface/agent-operations.js';

/** Documents events as the result of a route. */
export const ApiEvents = (description: string): MethodDecorator =>
  applyDecorators(
    ApiExtraModels(dtoOf(EVENT)),
    ApiResult(200, description, {
      schema: { type: 'array', items: { $ref: getSchemaPath(dtoOf(EVENT)) } },
      example: [EVENT_EXAMPLE],
    }),
  );

/** Documents a stream that ends. */
export const ApiRunStream = (example: string): MethodDecorator =>
  ApiEventStream('A stream that ends with the answer.', example);

/** Documents the problems of a run. */
export const ApiRunProblems = (): MethodDecorator =>
  applyDecorators(
    ApiProblems(403, 413, 415),
    ...Object.entries(RUN_PROBLEMS).map(([status, problem]) => ApiProblem(Number(status), problem)),
  );
