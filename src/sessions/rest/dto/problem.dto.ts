import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { ExceededBudget } from '../../domain/budget-error.js';
import type { Problem } from '../../transport/problems.js';
import { ApiObject } from './api-object.js';

@ApiObject({ name: 'ExceededBudget', additionalProperties: false })
export class ExceededBudgetDto implements ExceededBudget {
  @ApiProperty({ type: 'string', enum: ['session', 'user', 'app'] })
  readonly scope!: ExceededBudget['scope'];

  @ApiProperty({ type: 'string', enum: ['total', 'month', 'day'] })
  readonly period!: ExceededBudget['period'];

  @ApiProperty({ type: 'string', enum: ['tokens', 'micros'], description: 'Micros are millionths of a currency.' })
  readonly unit!: ExceededBudget['unit'];

  @ApiProperty({ type: 'integer', minimum: 0 })
  readonly used!: number;

  @ApiProperty({ type: 'integer', minimum: 0 })
  readonly limit!: number;

  @ApiPropertyOptional({ type: 'boolean', description: 'Whether runs at work may need the rest.' })
  readonly reserved?: boolean;

  @ApiPropertyOptional({ type: 'integer', minimum: 0, description: 'When the period ends.' })
  readonly resetsAt?: number;
}

@ApiObject({ name: 'Problem', description: 'What went wrong, as RFC 9457 describes it.', additionalProperties: false })
export class ProblemDto implements Problem {
  @ApiProperty({ type: 'string', format: 'uri-reference' })
  readonly type!: string;

  @ApiProperty({ type: 'string' })
  readonly title!: string;

  @ApiProperty({ type: 'integer', minimum: 400, maximum: 599 })
  readonly status!: number;

  @ApiProperty({ type: 'string', description: 'For people: what to do about it.' })
  readonly detail!: string;

  @ApiPropertyOptional({ type: 'string', description: 'The same as `detail`, for clients of ADK.' })
  readonly error?: string;

  @ApiProperty({ type: 'string', description: 'For programs: it never changes.' })
  readonly code!: string;

  @ApiPropertyOptional({ type: 'string', description: 'Where in the request the problem is.' })
  readonly path?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    description: 'The version of the session after a failed condition.',
  })
  readonly currentVersion?: number;

  @ApiPropertyOptional({ type: 'boolean', description: 'Whether the write may have happened.' })
  readonly outcomeUnknown?: boolean;

  @ApiPropertyOptional({ type: 'string', description: 'The id to retry the append with.' })
  readonly eventId?: string;

  @ApiPropertyOptional({ type: [String], description: 'The ids to retry an append of several events with.' })
  readonly eventIds?: readonly string[];

  @ApiPropertyOptional({ type: 'string', description: 'Who holds the turn.' })
  readonly holder?: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 0, description: 'When the turn is over unless it is renewed.' })
  readonly expiresAt?: number;

  @ApiPropertyOptional({ type: () => ExceededBudgetDto, description: 'The budget that is used up.' })
  readonly budget?: ExceededBudgetDto;

  @ApiPropertyOptional({
    enum: ['RATE_LIMITED', 'TIMEOUT', 'UNAVAILABLE', 'FAULT'],
    description: 'Why the agent failed.',
  })
  readonly reason?: string;

  @ApiPropertyOptional({ type: 'boolean', description: 'Whether the agent may succeed later.' })
  readonly retryable?: boolean;

  @ApiPropertyOptional({ type: 'string', description: 'The invocation in which the agent failed.' })
  readonly invocationId?: string;
}
