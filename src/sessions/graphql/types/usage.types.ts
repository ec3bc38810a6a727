import { ArgsType, Field, ObjectType } from '@nestjs/graphql';
import { AppArguments, SessionArguments } from './arguments.js';
import { SAFE_INT_SCALAR } from './scalars.js';

const PERIOD = {
  nullable: true,
  description: 'total by default; the UTC month or day of now, or one by name, such as 2026-11 or 2026-11-23.',
};

@ArgsType()
export class UsageArguments extends AppArguments {
  @Field(() => String, { nullable: true, description: 'All users of the app by default.' })
  userId?: string;

  @Field(() => String, PERIOD)
  period?: string;
}

@ArgsType()
export class SessionUsageArguments extends SessionArguments {
  @Field(() => String, { nullable: true, description: 'A session has total only.' })
  period?: string;
}

@ObjectType('TokenUsage', { description: 'Tokens that models reported.' })
export class TokenUsageObject {
  @Field(() => SAFE_INT_SCALAR, { description: 'Events with usageMetadata.' })
  events!: number;

  @Field(() => SAFE_INT_SCALAR, { description: 'Tokens of prompts, cached ones included.' })
  promptTokens!: number;

  @Field(() => SAFE_INT_SCALAR, { description: 'Tokens of prompts that came from a cache.' })
  cachedTokens!: number;

  @Field(() => SAFE_INT_SCALAR, { description: 'Tokens of answers, without thinking.' })
  outputTokens!: number;

  @Field(() => SAFE_INT_SCALAR)
  thinkingTokens!: number;

  @Field(() => SAFE_INT_SCALAR, { description: 'Tokens of tool results that a provider put into prompts.' })
  toolUseTokens!: number;

  @Field(() => SAFE_INT_SCALAR)
  totalTokens!: number;
}

@ObjectType('ModelUsage', { description: 'Tokens of one model.' })
export class ModelUsageObject extends TokenUsageObject {
  @Field(() => String, { description: 'The modelVersion of events; unknown for events without it.' })
  model!: string;

  @Field(() => SAFE_INT_SCALAR, { nullable: true, description: 'In millionths. Null for a model without price.' })
  costMicros?: number;
}

@ObjectType('UsageReport', { description: 'Tokens that were used, and what they cost.' })
export class UsageReportObject {
  @Field(() => String)
  appName!: string;

  @Field(() => String, { nullable: true })
  userId?: string;

  @Field(() => String, { nullable: true })
  sessionId?: string;

  @Field(() => String, { description: 'total, or the name of a month or a day.' })
  period!: string;

  @Field(() => [ModelUsageObject])
  models!: ModelUsageObject[];

  @Field(() => TokenUsageObject, { description: 'All models together.' })
  total!: TokenUsageObject;

  @Field(() => SAFE_INT_SCALAR, { nullable: true, description: 'In millionths. Null if a model has no price.' })
  costMicros?: number;

  @Field(() => [String], { description: 'Models without price.' })
  unpricedModels!: string[];
}
