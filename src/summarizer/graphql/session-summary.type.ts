import { Field, Float, ObjectType } from '@nestjs/graphql';
import { SAFE_INT_SCALAR } from '../../sessions/graphql/scalars/safe-int.scalar.js';

@ObjectType('SessionSummary', { description: 'What stands for the beginning of a conversation, as the log keeps it.' })
export class SessionSummaryObject {
  @Field(() => String)
  sessionId!: string;

  @Field(() => String)
  text!: string;

  @Field(() => SAFE_INT_SCALAR, { description: 'Its own place in the log.' })
  seq!: number;

  @Field(() => SAFE_INT_SCALAR, { description: 'The first event that it stands for.' })
  fromSeq!: number;

  @Field(() => SAFE_INT_SCALAR, { description: 'The last event that it stands for.' })
  toSeq!: number;

  @Field(() => SAFE_INT_SCALAR, { description: 'Epoch milliseconds.' })
  createTime!: number;

  @Field(() => String, { nullable: true })
  model?: string | undefined;

  @Field(() => String, { nullable: true })
  promptVersion?: string | undefined;

  @Field(() => SAFE_INT_SCALAR, { description: 'Events that a reader saw before it.' })
  originalEventCount!: number;

  @Field(() => SAFE_INT_SCALAR, { description: 'Events that a reader saw after it.' })
  compressedEventCount!: number;

  @Field(() => Float, { description: 'Per cent of the events that a reader is spared.' })
  compressionRatio!: number;

  @Field(() => SAFE_INT_SCALAR, { nullable: true })
  inputTokens?: number | undefined;

  @Field(() => SAFE_INT_SCALAR, { nullable: true })
  outputTokens?: number | undefined;

  @Field(() => SAFE_INT_SCALAR, { nullable: true })
  durationMs?: number | undefined;

  @Field(() => Boolean, { description: 'Whether readers see it: it was not replaced by a later one, nor rewound.' })
  isInForce!: boolean;
}
