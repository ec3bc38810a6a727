import { HttpCode, RequestMapping, RequestMethod, applyDecorators } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiHeader, ApiOperation, ApiParam, ApiQuery, getSchemaPath } from '@nestjs/swagger';
import { ID } from '../surface/ids-and-pages.js';
import { type OtherAnswer, type Route as RouteOf, type RoutedOperation, idsIn } from '../surface/operation.js';
import { type Field, type Shape, isShape } from '../surface/shape.js';
import { type AccessRequirement, RequireAccess } from '../transport/session-access.js';
import { AnswersItsBody, AnswersWithWork, LargeAnswer, OpensStream } from './answer.interceptor.js';
import { ApiEventStream, ApiProblem, ApiProblems, ApiResult, type ResponseHeaders } from './api-responses.js';
import { KeepsVersion } from './if-match.guard.js';
import { dtoOf } from './make-dto.js';
import { type RequestParts, partsOf } from './read-request.js';
import { ApiTurnToken, WritesInTurn } from './turn-headers.js';

/** Makes a method the route of an operation: path, access, memory for its answer, and its description in OpenAPI. */
export function Route(operationId: string, operation: RoutedOperation): MethodDecorator {
  const { summary, description, route, keepsVersion = false, turn } = operation;
  const [action, target] = operation.access;
  const { method, path } = splitMethodAndPath(route);
  return applyDecorators(
    RequestMapping({ path, method: RequestMethod[method as keyof typeof RequestMethod] }),
    ...ownStatus(operation),
    RequireAccess(action, target, createWriteDescriber(operation)),
    ...memoryFor(operation),
    ApiOperation({ operationId, summary, ...(description !== undefined && { description }) }),
    ...idsIn(route).map((name) => ApiParam({ name, schema: { ...ID, example: ID_EXAMPLES[name] } })),
    ...(route.takes ?? []).map((header) => ApiHeader({ required: false, ...header })),
    ...requestDocs(partsOf(operation), route),
    ...answerDocs(operation),
    ApiProblems(...usualProblems(operation).filter((status) => !(status in (route.problems ?? {})))),
    ...(keepsVersion ? [KeepsVersion()] : []),
    ...(turn === 'its own' ? [ApiTurnToken()] : []),
    ...(turn === 'in' || turn === 'in or ending' ? [WritesInTurn({ mayEnd: turn !== 'in' })] : []),
    ...Object.entries(route.problems ?? {}).map(([status, problem]) => ApiProblem(Number(status), problem)),
  );
}

const ID_EXAMPLES: Readonly<Record<string, string>> = {
  appName: 'shop',
  userId: 'ann',
  sessionId: 'order-7',
  approvalId: 'c-1@inv-7',
};

function splitMethodAndPath({ at }: RouteOf): { readonly method: string; readonly path: string } {
  const [method = '', path = ''] = at.split(' ');
  return { method, path };
}

type Answered = Pick<RoutedOperation, 'route' | 'result'>;

/** What the route answers. */
const answerOf = ({ route, result }: Answered): Shape | Field | undefined => route.result ?? result;

const usualStatus = ({ at }: RouteOf): number => (at.startsWith('POST ') ? 201 : 200);

function chooseAnswerStatus({ route, result }: Answered): number {
  const isEmpty = result === undefined && route.holds !== 'a stream';
  return route.status ?? (isEmpty ? 204 : usualStatus(route));
}

/** Nest would force a status that is given, also where the answer sets another one. */
function ownStatus(operation: Answered): MethodDecorator[] {
  const status = chooseAnswerStatus(operation);
  return status === usualStatus(operation.route) ? [] : [HttpCode(status)];
}

/** The body may be one field of the request. */
function createWriteDescriber({ access: [, , writes], route }: RoutedOperation): AccessRequirement['writes'] {
  const is = route.body?.is;
  return is === undefined || !writes ? writes : (input) => writes({ [is]: input });
}

function memoryFor(operation: Answered): MethodDecorator[] {
  const { holds = answerOf(operation) ? 'much' : 'little' } = operation.route;
  if (holds === 'little') return [];
  return [
    { much: LargeAnswer, 'its body': AnswersItsBody, 'what it did': AnswersWithWork, 'a stream': OpensStream }[holds](),
  ];
}

function requestDocs({ query, body }: RequestParts, route: RouteOf): MethodDecorator[] {
  const type = route.body?.shape ? dtoOf(route.body.shape) : body;
  return [...(query ? [ApiQuery({ type: query })] : []), ...(type ? [ApiBody({ type })] : [])];
}

function answerDocs(operation: Answered): MethodDecorator[] {
  const { route } = operation;
  const { answers, example, etag, creates, headers = [], others = [] } = route;
  const result = answerOf(operation);
  const isPaged = result !== undefined && isShape(result) && result.items !== undefined;
  const named = [
    ...(etag || headers.includes('ETag') ? (['ETag'] as const) : []),
    ...(creates ? (['Location'] as const) : []),
    ...(isPaged ? (['Link'] as const) : []),
  ];
  if (route.holds === 'a stream') return [ApiEventStream(answers, example)];
  const described = { ...describeResultBody(result), ...(example !== undefined && { example }), headers: named };
  const item = result && findListItemShape(result);
  return [
    ...(item ? [ApiExtraModels(dtoOf(item))] : []),
    ApiResult(chooseAnswerStatus(operation), answers, described),
    ...others.map(otherAnswer),
  ];
}

function otherAnswer({ status, description, result, anyOf, example, headers }: OtherAnswer): MethodDecorator {
  const ownHeaders = headers && { ownHeaders: headers as ResponseHeaders };
  const classes = (anyOf ?? []).map(dtoOf);
  const schema = anyOf && { schema: { anyOf: classes.map((each) => ({ $ref: getSchemaPath(each) })) }, example };
  return applyDecorators(
    ApiExtraModels(...classes),
    ApiResult(status, description, { ...describeResultBody(result), ...schema, ...ownHeaders }),
  );
}

function describeResultBody(result: Shape | Field | undefined): Parameters<typeof ApiResult>[2] {
  if (result === undefined) return {};
  if (isShape(result)) return { type: dtoOf(result) };
  const item = findListItemShape(result);
  return { schema: item ? { type: 'array', items: { $ref: getSchemaPath(dtoOf(item)) } } : result.schema };
}

/** The shape of which a result is a list. */
function findListItemShape(result: Shape | Field): Shape | undefined {
  return !isShape(result) && result.of && isShape(result.of) ? result.of : undefined;
}

type Status = Parameters<typeof ApiProblems>[number];

/** The problems that follow from what is asked for, and from the request. */
function usualProblems({ access: [action, target], route }: RoutedOperation): Status[] {
  const isOne = target === 'session';
  const isBody = /^(POST|PATCH|PUT) /.test(route.at);
  if (isOne && action === 'delete') return [];
  return [
    ...(action === 'read' && isOne ? [] : [403 as const]),
    ...(isOne ? [404 as const] : []),
    ...(isBody ? [413 as const, 415 as const] : []),
  ];
}
