import { applyDecorators } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import { InvalidInputError } from '../domain/errors/errors.js';
import { ApiProblem } from './api-responses.js';
import type { HttpExchange } from './http-exchange.js';

const TOKEN = 'Turn-Token';
const END = 'Turn-End';

const TOKEN_HEADER = {
  name: TOKEN,
  schema: { type: 'string', minLength: 1, maxLength: 191 },
} as const;

/** Documents the header of a route that changes a turn. */
export const ApiTurnToken = (): MethodDecorator =>
  ApiHeader({ ...TOKEN_HEADER, required: true, description: 'The token of the turn.' });

/** Documents the headers of a route that writes in a turn. */
export const WritesInTurn = ({ mayEnd = true } = {}): MethodDecorator =>
  applyDecorators(
    ApiHeader({
      ...TOKEN_HEADER,
      required: false,
      description: 'Write only if the turn with this token is held. Sessions with `turnsOnly` need it.',
    }),
    ...(mayEnd
      ? [
          ApiHeader({
            name: END,
            required: false,
            description: '`true` ends the turn with this write.',
            schema: { type: 'string', enum: ['true', 'false'] },
          }),
        ]
      : []),
    ApiProblem(409, {
      description: 'The turn is over, the session needs one, or the id of the event is in use.',
      code: 'TURN_LOST',
    }),
  );

/** The turn of a write, from its headers. */
export function readTurnHeaders(exchange: HttpExchange): {
  readonly turn: string | undefined;
  readonly endTurn: boolean | undefined;
} {
  const end = exchange.header(END.toLowerCase());
  if (end !== undefined && end !== 'true' && end !== 'false') throw new InvalidInputError('must be true or false', END);
  return { turn: exchange.header(TOKEN.toLowerCase()), endTurn: end === undefined ? undefined : end === 'true' };
}

/** The token of a turn that is to be changed. */
export function readTokenHeader(exchange: HttpExchange): string {
  const { turn } = readTurnHeaders(exchange);
  if (turn === undefined) throw new InvalidInputError('is missing: send the token of the turn', TOKEN);
  return turn;
}
