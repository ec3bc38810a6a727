import { ApiProperty, ApiPropertyOptional, OmitType, PartialType, getSchemaPath } from '@nestjs/swagger';
import { Allow } from 'class-validator';
import type { EventPage } from '../../operations/list-events.js';
import { ApiObject } from './api-object.js';
import { METADATA_DELTA } from './metadata.dto.js';
import { STATE, STATE_REMOVALS } from './state.dto.js';

const OBJECT = { type: 'object', additionalProperties: true } as const;
const CONTENT_EXAMPLE = { role: 'user', parts: [{ text: 'Hello' }] };
const INPUT_EXAMPLE = {
  id: 'e-1',
  author: 'user',
  content: CONTENT_EXAMPLE,
  actions: { stateDelta: { step: 2 } },
};

const AUTHOR = '`user`, or the name of an agent.';

export const EVENT_EXAMPLE = { ...INPUT_EXAMPLE, invocationId: '', timestamp: 1_767_225_600_000, seq: 1 };

/** A field that may be missing or null: other ADKs send null for unset fields. */
const ApiNullable = (schema: object): PropertyDecorator => ApiPropertyOptional({ ...schema, nullable: true });

@ApiObject({
  name: 'Part',
  description: 'One piece of what is said. Parts have the shapes of ADK; fields not named here are kept.',
  additionalProperties: true,
})
class PartDto {
  @ApiNullable({ type: 'string' })
  text?: unknown;

  @ApiNullable(OBJECT)
  functionCall?: unknown;

  @ApiNullable(OBJECT)
  functionResponse?: unknown;

  @ApiNullable(OBJECT)
  inlineData?: unknown;
}

@ApiObject({ name: 'Content', additionalProperties: true })
class ContentDto {
  @ApiNullable({ type: 'string' })
  role?: unknown;

  @ApiNullable({ type: () => [PartDto] })
  parts?: unknown;
}

const SEQ = { type: 'integer', minimum: 1 } as const;

@ApiObject({
  name: 'EventActions',
  description: 'What the event does besides being said. Fields not named here are kept.',
  additionalProperties: true,
})
class EventActionsDto {
  @ApiPropertyOptional(STATE)
  stateDelta?: unknown;

  @ApiPropertyOptional(STATE_REMOVALS)
  stateRemovals?: unknown;

  @ApiNullable(METADATA_DELTA)
  metadataDelta?: unknown;

  @ApiNullable(OBJECT)
  artifactDelta?: unknown;

  @ApiNullable({ type: 'boolean' })
  skipSummarization?: unknown;

  @ApiNullable({ type: 'string' })
  transferToAgent?: unknown;

  @ApiNullable({ type: 'boolean' })
  escalate?: unknown;

  @ApiProperty({
    ...OBJECT,
    nullable: true,
    selfRequired: false,
    description: 'Makes the event a summary of these events.',
    required: ['fromSeq', 'toSeq'],
    properties: { fromSeq: SEQ, toSeq: SEQ },
  })
  compaction?: unknown;

  @ApiProperty({
    ...OBJECT,
    nullable: true,
    selfRequired: false,
    description: 'Takes the conversation back to where it stood after this event.',
    required: ['toSeq'],
    properties: { toSeq: { type: 'integer', minimum: 0 } },
  })
  rewind?: unknown;
}

@ApiObject({
  name: 'Event',
  description: 'An event of the log. Fields not named here are kept.',
  additionalProperties: true,
  example: EVENT_EXAMPLE,
})
export class EventDto {
  @ApiProperty({
    type: 'string',
    minLength: 1,
    maxLength: 191,
    description:
      'Unique within the session; generated if it is left out. An event that is sent again with the same content, or as it was returned, is stored once.',
  })
  id: unknown;

  @ApiProperty({ type: 'string', description: 'Groups the events of one turn of an agent.' })
  invocationId: unknown;

  @ApiNullable({ type: 'string', description: AUTHOR })
  author?: unknown;

  @ApiNullable({ type: 'string' })
  branch?: unknown;

  @ApiProperty({
    type: 'number',
    description: 'Epoch milliseconds; below 1e11, seconds. The time of the append if it is left out.',
  })
  timestamp: unknown;

  @ApiNullable({ type: 'boolean', description: 'A piece of a stream: returned unchanged, not stored.' })
  partial?: unknown;

  @ApiNullable({ type: () => ContentDto })
  content?: unknown;

  @ApiProperty({ type: () => EventActionsDto })
  actions: unknown;

  @ApiNullable({ type: [String] })
  longRunningToolIds?: unknown;

  @ApiNullable(OBJECT)
  usageMetadata?: unknown;

  @ApiNullable({ type: 'string' })
  errorCode?: unknown;

  @ApiNullable({ type: 'string' })
  errorMessage?: unknown;

  @ApiNullable(OBJECT)
  customMetadata?: unknown;

  @ApiNullable({ type: 'boolean' })
  turnComplete?: unknown;

  @ApiNullable({ type: 'boolean' })
  interrupted?: unknown;

  @ApiNullable(OBJECT)
  groundingMetadata?: unknown;

  @ApiProperty({ ...SEQ, description: 'The place in the log, counted from 1.' })
  seq: unknown;
}

@ApiObject({
  name: 'EventInput',
  description:
    'An event to append, without an object around it such as `{ "event": … }`. Fields not named here are kept.',
  additionalProperties: true,
  example: INPUT_EXAMPLE,
})
export class EventInputDto extends PartialType(OmitType(EventDto, ['seq', 'author'])) {
  @ApiProperty({ type: 'string', minLength: 1, description: AUTHOR })
  author: unknown;
}

@ApiObject({
  name: 'EventBatch',
  description: 'Events to append together, in the order of the log.',
  additionalProperties: false,
  example: { events: [INPUT_EXAMPLE] },
})
export class EventBatchBody {
  @ApiProperty({ type: () => [EventInputDto] })
  @Allow()
  events: unknown;
}

@ApiObject({
  name: 'AppendedEvents',
  additionalProperties: false,
  example: { events: [EVENT_EXAMPLE] },
})
export class AppendedEventsDto {
  @ApiProperty({
    type: 'array',
    items: { anyOf: [{ $ref: getSchemaPath(EventDto) }, { $ref: getSchemaPath(EventInputDto) }] },
    description: 'The stored events, in the order of the request. A partial event is in its place, unchanged.',
  })
  events!: readonly unknown[];
}

@ApiObject({
  name: 'EventPage',
  additionalProperties: false,
  example: { events: [EVENT_EXAMPLE], firstSeq: 1, lastSeq: 1 },
})
export class EventPageDto implements EventPage {
  @ApiProperty({ type: () => [EventDto] })
  events!: EventPage['events'];

  @ApiProperty({ ...SEQ, description: 'The first event that is kept.' })
  firstSeq!: number;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'The last event of the log.' })
  lastSeq!: number;

  @ApiPropertyOptional({ type: 'string', description: 'The cursor of the next page; missing on the last page.' })
  nextCursor?: string;
}
