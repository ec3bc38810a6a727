import { ArgsType, Field, Float, Int, ObjectType } from '@nestjs/graphql';
import { DEFAULT_LIMIT } from '../../sessions/domain/paging.js';
import { SAFE_INT_SCALAR } from '../../sessions/graphql/types/scalars.js';
import { SessionArguments } from '../../sessions/graphql/types/arguments.js';

@ObjectType('SessionSummary', {
  description: 'A summary of the beginning of a conversation, as it is stored in the log.',
})
export class SessionSummaryObject {
  @Field(() => String)
  sessionId!: string;

  @Field(() => String)
  text!: string;

  @Field(() => SAFE_INT_SCALAR, { description: 'The number of the summary in the log.' })
  seq!: number;

  @Field(() => SAFE_INT_SCALAR, { description: 'The first event that it covers.' })
  fromSeq!: number;

  @Field(() => SAFE_INT_SCALAR, { description: 'The last event that it covers.' })
  toSeq!: number;

  @Field(() => SAFE_INT_SCALAR, { description: 'Epoch milliseconds.' })
  createTime!: number;

  @Field(() => String, { nullable: true })
  model?: string | undefined;

  @Field(() => String, { nullable: true })
  promptVersion?: string | undefined;

  @Field(() => SAFE_INT_SCALAR, { description: 'Events in the view before it.' })
  originalEventCount!: number;

  @Field(() => SAFE_INT_SCALAR, { description: 'Events in the view after it.' })
  compressedEventCount!: number;

  @Field(() => Float, { description: 'By how many per cent the view became shorter.' })
  compressionRatio!: number;

  @Field(() => SAFE_INT_SCALAR, { nullable: true })
  inputTokens?: number | undefined;

  @Field(() => SAFE_INT_SCALAR, { nullable: true })
  outputTokens?: number | undefined;

  @Field(() => SAFE_INT_SCALAR, { nullable: true })
  durationMs?: number | undefined;

  @Field(() => Boolean, { description: 'Whether readers see it: it was neither replaced by a later one nor rewound.' })
  isInForce!: boolean;
}

@ArgsType()
export class CreateSummaryArguments extends SessionArguments {
  @Field(() => Boolean, { nullable: true, description: 'Also if it is not due yet.' })
  force?: boolean;
}

@ArgsType()
export class SummaryPageArguments extends SessionArguments {
  @Field(() => Int, { nullable: true, defaultValue: DEFAULT_LIMIT, description: 'At most 1,000.' })
  first?: number;

  @Field(() => SAFE_INT_SCALAR, { nullable: true, description: 'Only summaries after this event.' })
  afterSeq?: number;
}
