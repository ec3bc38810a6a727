import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString } from 'class-validator';
import type { PricedUsage } from '../../domain/usage-cost.js';
import type { TokenUsage } from '../../domain/usage.js';
import type { UsageReport } from '../../operations/usage.js';
import { ApiObject } from './api-object.js';
import { ID } from './session.dto.js';

const COUNT = { type: 'integer', minimum: 0 } as const;
const COST = { ...COUNT, description: 'In millionths of the currency of the price table.' } as const;
const TOKENS_EXAMPLE = {
  events: 2,
  promptTokens: 620,
  cachedTokens: 400,
  outputTokens: 240,
  thinkingTokens: 80,
  toolUseTokens: 0,
  totalTokens: 940,
};

export class UsageQueryDto {
  @ApiPropertyOptional({
    type: 'string',
    default: 'total',
    description:
      '`total`, the UTC `month` or `day` of now, or one by name, such as `2026-11` or `2026-11-23`. A session has `total` only.',
  })
  @IsOptional()
  @IsString()
  period?: string;
}

@ApiObject({ name: 'TokenUsage', additionalProperties: false, example: TOKENS_EXAMPLE })
export class TokenUsageDto implements TokenUsage {
  @ApiProperty({ ...COUNT, description: 'Events with `usageMetadata`.' })
  readonly events!: number;

  @ApiProperty({ ...COUNT, description: 'Tokens of prompts, cached ones included.' })
  readonly promptTokens!: number;

  @ApiProperty({ ...COUNT, description: 'Tokens of prompts that came from a cache.' })
  readonly cachedTokens!: number;

  @ApiProperty({ ...COUNT, description: 'Tokens of answers, without thinking.' })
  readonly outputTokens!: number;

  @ApiProperty(COUNT)
  readonly thinkingTokens!: number;

  @ApiProperty({ ...COUNT, description: 'Tokens of tool results that a provider put into prompts.' })
  readonly toolUseTokens!: number;

  @ApiProperty(COUNT)
  readonly totalTokens!: number;
}

@ApiObject({
  name: 'ModelUsage',
  additionalProperties: false,
  example: { model: 'gemini-2.5-flash', ...TOKENS_EXAMPLE, costMicros: 876 },
})
export class ModelUsageDto extends TokenUsageDto implements PricedUsage {
  @ApiProperty({ type: 'string', description: 'The `modelVersion` of events; `unknown` for events without it.' })
  readonly model!: string;

  @ApiPropertyOptional({ ...COST, description: `${COST.description} Missing for a model without price.` })
  readonly costMicros?: number;
}

@ApiObject({
  name: 'UsageReport',
  additionalProperties: false,
  example: {
    appName: 'shop',
    userId: 'ann',
    period: '2026-11',
    models: [{ model: 'gemini-2.5-flash', ...TOKENS_EXAMPLE, costMicros: 876 }],
    total: TOKENS_EXAMPLE,
    costMicros: 876,
    unpricedModels: [],
  },
})
export class UsageReportDto implements UsageReport {
  @ApiProperty(ID)
  readonly appName!: string;

  @ApiPropertyOptional(ID)
  readonly userId?: string;

  @ApiPropertyOptional(ID)
  readonly sessionId?: string;

  @ApiProperty({ type: 'string', description: '`total`, or the name of a month or a day.' })
  readonly period!: string;

  @ApiProperty({ type: () => [ModelUsageDto] })
  readonly models!: readonly ModelUsageDto[];

  @ApiProperty({ type: () => TokenUsageDto, description: 'All models together.' })
  readonly total!: TokenUsageDto;

  @ApiPropertyOptional({ ...COST, description: `${COST.description} Missing if a model has no price.` })
  readonly costMicros?: number;

  @ApiProperty({ type: [String], description: 'Models without price.' })
  readonly unpricedModels!: readonly string[];
}
