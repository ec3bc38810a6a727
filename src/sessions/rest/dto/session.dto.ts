import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Allow, IsBoolean, IsInt, IsOptional, IsString, Min } from 'class-validator';
import type { SessionMetadataInput } from '../../domain/metadata.js';
import type { SessionView } from '../../domain/session.js';
import { ApiObject } from './api-object.js';
import { EVENT_EXAMPLE, EventDto } from './event.dto.js';
import { METADATA_EXAMPLE, NEW_METADATA, SessionMetadataDto } from './metadata.dto.js';
import { STATE, STATE_EXAMPLE } from './state.dto.js';

const COUNT = { type: 'integer', minimum: 0 } as const;
const MILLISECONDS = { ...COUNT, description: 'Epoch milliseconds, by the clock of the store.' };

/** An id of an app, a user or a session. */
export const ID = { type: 'string', minLength: 1, maxLength: 191 } as const;
/** The ids of a session. */
export class SessionKeyDto {
  @ApiProperty(ID)
  readonly appName!: string;

  @ApiProperty(ID)
  readonly userId!: string;

  @ApiProperty(ID)
  readonly sessionId!: string;
}

const NEW_ID = { type: 'string', maxLength: 191, description: 'Generated if it is left out.' } as const;

const SESSION_EXAMPLE = {
  id: 'order-7',
  appName: 'shop',
  userId: 'ann',
  saveKey: 'shop/ann',
  createTime: 1_767_225_599_000,
  state: STATE_EXAMPLE,
  metadata: METADATA_EXAMPLE,
  events: [EVENT_EXAMPLE],
  lastUpdateTime: 1_767_225_600_000,
  version: 1,
  conversationCount: 1,
};

@ApiObject({ name: 'Session', additionalProperties: false, example: SESSION_EXAMPLE })
export class SessionDto implements SessionView {
  @ApiProperty(ID)
  readonly id!: string;

  @ApiProperty(ID)
  readonly appName!: string;

  @ApiProperty(ID)
  readonly userId!: string;

  @ApiProperty(STATE)
  readonly state!: Record<string, unknown>;

  @ApiProperty({ type: () => SessionMetadataDto })
  readonly metadata!: SessionMetadataDto;

  @ApiProperty({
    type: () => [EventDto],
    description:
      'The view: the log without rewound events, with summaries in place of the events that they cover. Empty in lists.',
  })
  readonly events!: SessionView['events'];

  @ApiPropertyOptional({
    type: 'boolean',
    enum: [true],
    description: 'There where older events of the view were left out, since together they are too large.',
  })
  readonly eventsTruncated?: true;

  @ApiPropertyOptional({ type: 'boolean', enum: [true], description: 'There if writes need a turn.' })
  readonly turnsOnly?: true;

  @ApiProperty(MILLISECONDS)
  readonly createTime!: number;

  @ApiProperty(MILLISECONDS)
  readonly lastUpdateTime!: number;

  @ApiProperty({ ...COUNT, description: 'The number of the last event; the value of `ETag`.' })
  readonly version!: number;

  @ApiProperty({ ...COUNT, description: 'How often the user spoke, rewound events excluded.' })
  readonly conversationCount!: number;

  @ApiProperty({ type: 'string', description: 'Names the user across all apps, for example for a save file.' })
  readonly saveKey!: string;
}

@ApiObject({
  name: 'SessionPage',
  additionalProperties: false,
  example: { sessions: [{ ...SESSION_EXAMPLE, events: [] }], limit: 100 },
})
export class SessionPageDto {
  @ApiProperty({ type: () => [SessionDto] })
  readonly sessions!: SessionDto[];

  @ApiProperty(COUNT)
  readonly limit!: number;

  @ApiPropertyOptional({
    type: 'string',
    description: 'The cursor of the next page; missing on the last page, and with `page` or `offset`.',
  })
  readonly nextCursor?: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, description: 'Only with `page` or `offset`, like the totals.' })
  readonly page?: number;

  @ApiPropertyOptional(COUNT)
  readonly totalItems?: number;

  @ApiPropertyOptional(COUNT)
  readonly totalPages?: number;
}

/** What `POST …/sessions/{id}` takes. The rules of sessions check the state. */
@ApiObject({
  name: 'NewSessionWithId',
  additionalProperties: false,
  example: { state: { step: 1, 'user:language': 'en' } },
})
export class CreateSessionWithIdBody {
  @ApiPropertyOptional(STATE)
  @Allow()
  state?: unknown;

  @ApiPropertyOptional(NEW_METADATA)
  @Allow()
  metadata?: SessionMetadataInput;

  @ApiPropertyOptional({ type: 'boolean', description: 'Accept only writes in a turn, and summaries.' })
  @IsOptional()
  @IsBoolean()
  turnsOnly?: boolean;
}

/** What `POST …/sessions` takes. */
@ApiObject({
  name: 'NewSession',
  additionalProperties: false,
  example: { state: { step: 1, 'user:language': 'en' } },
})
export class CreateSessionBody extends CreateSessionWithIdBody {
  @ApiPropertyOptional(NEW_ID)
  @IsOptional()
  @IsString()
  sessionId?: string;
}

@ApiObject({
  name: 'Rewind',
  description: 'Exactly one of the two fields.',
  additionalProperties: false,
  example: { toSeq: 1 },
})
export class RewindBody {
  @ApiPropertyOptional({ ...COUNT, description: 'The last event to keep; 0 takes everything back.' })
  @IsOptional()
  @IsInt()
  @Min(0)
  toSeq?: number;

  @ApiPropertyOptional({ type: 'string', description: 'Takes back this invocation and everything after it.' })
  @IsOptional()
  @IsString()
  invocationId?: string;
}

@ApiObject({ name: 'Fork', additionalProperties: false, example: { atSeq: 1 } })
export class ForkBody {
  @ApiPropertyOptional({ ...COUNT, description: 'The session as it was after this event; as it is now if left out.' })
  @IsOptional()
  @IsInt()
  @Min(0)
  atSeq?: number;

  @ApiPropertyOptional(NEW_ID)
  @IsOptional()
  @IsString()
  newSessionId?: string;
}
