import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsOptional } from 'class-validator';
import { ApiObject } from '../../sessions/rest/dto/api-object.js';
import { QueryNumber } from '../../sessions/rest/dto/query.dto.js';
import type { SessionSummary } from '../session-summary.js';

const COUNT = { type: 'integer', minimum: 0 } as const;

const SUMMARY_EXAMPLE = {
  sessionId: 'order-7',
  text: 'Ann asked to move the delivery of order 4711 to Friday; it was moved.',
  seq: 43,
  fromSeq: 1,
  toSeq: 32,
  createTime: 1_767_225_660_000,
  model: 'gpt-5-mini',
  promptVersion: '1',
  originalEventCount: 42,
  compressedEventCount: 11,
  compressionRatio: 73.8,
  inputTokens: 1_850,
  outputTokens: 24,
  durationMs: 1_210,
  isInForce: true,
};

@ApiObject({
  name: 'SessionSummary',
  description: 'A summary of the beginning of a conversation, as it is stored in the log.',
  additionalProperties: false,
  example: SUMMARY_EXAMPLE,
})
export class SessionSummaryDto implements SessionSummary {
  @ApiProperty({ type: 'string', minLength: 1, maxLength: 191 })
  readonly sessionId!: string;

  @ApiProperty({ type: 'string' })
  readonly text!: string;

  @ApiProperty({ ...COUNT, description: 'The number of the summary in the log.' })
  readonly seq!: number;

  @ApiProperty({ ...COUNT, description: 'The first event that it covers.' })
  readonly fromSeq!: number;

  @ApiProperty({ ...COUNT, description: 'The last event that it covers.' })
  readonly toSeq!: number;

  @ApiProperty({ type: 'number', description: 'Epoch milliseconds.' })
  readonly createTime!: number;

  @ApiPropertyOptional({ type: 'string' })
  readonly model?: string;

  @ApiPropertyOptional({ type: 'string' })
  readonly promptVersion?: string;

  @ApiProperty({ ...COUNT, description: 'Events in the view before it.' })
  readonly originalEventCount!: number;

  @ApiProperty({ ...COUNT, description: 'Events in the view after it.' })
  readonly compressedEventCount!: number;

  @ApiProperty({ type: 'number', description: 'By how many per cent the view became shorter.' })
  readonly compressionRatio!: number;

  @ApiPropertyOptional(COUNT)
  readonly inputTokens?: number;

  @ApiPropertyOptional(COUNT)
  readonly outputTokens?: number;

  @ApiPropertyOptional(COUNT)
  readonly durationMs?: number;

  @ApiProperty({
    type: 'boolean',
    description: 'Whether readers see it: it was neither replaced by a later one nor rewound.',
  })
  readonly isInForce!: boolean;
}

@ApiObject({ name: 'SummaryList', additionalProperties: false, example: { summaries: [SUMMARY_EXAMPLE], limit: 100 } })
export class SummaryListDto {
  @ApiProperty({
    type: () => [SessionSummaryDto],
    description: 'Oldest first. If there are as many as `limit`, more may follow: ask for them with `afterSeq`.',
  })
  readonly summaries!: SessionSummary[];

  @ApiProperty(COUNT)
  readonly limit!: number;
}

/** The body of `POST …/summary`. */
@ApiObject({ name: 'NewSummary', additionalProperties: false, example: { force: true } })
export class SummaryBody {
  @ApiPropertyOptional({ type: 'boolean', default: false, description: 'Summarise even if it is not due yet.' })
  @IsOptional()
  @IsBoolean()
  force?: boolean;
}

export class ListSummariesQuery {
  @QueryNumber({ description: 'Items per page.', maximum: 1_000, default: 100 })
  limit?: string;

  @QueryNumber({ description: 'Only summaries after this event.' })
  afterSeq?: string;
}
