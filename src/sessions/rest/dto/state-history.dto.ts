import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString } from 'class-validator';
import type { StateAtMoment, StateChangePage } from '../../operations/state-history.js';
import type { StateKeyChange } from '../../domain/state-history.js';
import { ApiObject } from './api-object.js';
import { PageQuery, QueryNumber, RequiredQueryNumber } from './query.dto.js';

const SEQ = { type: 'integer', minimum: 0 } as const;
const STATE = { type: 'object', additionalProperties: true } as const;
/** Any JSON value. */
const ANY = {
  oneOf: [
    { type: 'object', additionalProperties: true },
    { type: 'array', items: {} },
    { type: 'string' },
    { type: 'number' },
    { type: 'boolean' },
    { type: 'null' },
  ],
};
const CHANGE_EXAMPLE = { seq: 4, eventId: 'e-4', key: 'step', scope: 'session', before: 1, after: 2 } as const;

export class StateAtQuery {
  @RequiredQueryNumber({ description: 'The last event of that moment; 0 for the initial state.' })
  seq!: string;
}

@ApiObject({
  name: 'StateAtMoment',
  additionalProperties: false,
  example: { seq: 4, state: { step: 2 }, shared: { 'user:language': 'en' } },
})
export class StateAtDto implements StateAtMoment {
  @ApiProperty(SEQ)
  seq!: number;

  @ApiProperty({ ...STATE, description: "The session's own state after the event." })
  state!: StateAtMoment['state'];

  @ApiProperty({ ...STATE, description: 'Keys of `user:` and `app:` as events of this session left them.' })
  shared!: StateAtMoment['shared'];
}

export class StateChangesQuery extends PageQuery {
  @QueryNumber({ description: 'Only changes by events after this one.' })
  afterSeq?: string;

  @ApiPropertyOptional({ type: 'string', description: 'Only changes of this key, with its prefix.' })
  @IsOptional()
  @IsString()
  key?: string;
}

@ApiObject({ name: 'StateKeyChange', additionalProperties: false, example: CHANGE_EXAMPLE })
export class StateChangeDto implements StateKeyChange {
  @ApiProperty({ ...SEQ, minimum: 1, description: 'The event.' })
  seq!: number;

  @ApiProperty({ type: 'string' })
  eventId!: string;

  @ApiProperty({ type: 'string', description: 'With its prefix.' })
  key!: string;

  @ApiProperty({ type: 'string', enum: ['session', 'user', 'app'] })
  scope!: StateKeyChange['scope'];

  @ApiPropertyOptional({
    ...ANY,
    description:
      'The value before; missing if there was none. In shared scopes, what the last earlier event of this session gave.',
  })
  before?: unknown;

  @ApiPropertyOptional({ ...ANY, description: 'The value after; missing if the event removed the key.' })
  after?: unknown;
}

@ApiObject({
  name: 'StateChangePage',
  additionalProperties: false,
  example: { changes: [CHANGE_EXAMPLE], firstSeq: 1, lastSeq: 4 },
})
export class StateChangePageDto implements StateChangePage {
  @ApiProperty({ type: () => [StateChangeDto] })
  changes!: StateChangePage['changes'];

  @ApiProperty({ ...SEQ, minimum: 1, description: 'The first event that is kept.' })
  firstSeq!: number;

  @ApiProperty({ ...SEQ, description: 'The last event of the log.' })
  lastSeq!: number;

  @ApiPropertyOptional({
    type: 'string',
    description: 'The cursor of the next page; missing on the last page. A page without changes may have one.',
  })
  nextCursor?: string;
}
