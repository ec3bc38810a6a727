import { ArgsType, Field, Int } from '@nestjs/graphql';
import { DEFAULT_LIMIT } from '../../sessions/domain/paging.js';
import { SAFE_INT_SCALAR } from '../../sessions/graphql/scalars/safe-int.scalar.js';
import { SessionArguments } from '../../sessions/graphql/types/arguments.js';

@ArgsType()
export class CreateSummaryArguments extends SessionArguments {
  @Field(() => Boolean, { nullable: true, description: 'Also where it is not due yet.' })
  force?: boolean;
}

@ArgsType()
export class SummaryPageArguments extends SessionArguments {
  @Field(() => Int, { nullable: true, defaultValue: DEFAULT_LIMIT, description: 'At most 1,000.' })
  first?: number;

  @Field(() => SAFE_INT_SCALAR, { nullable: true, description: 'Only summaries after this event.' })
  afterSeq?: number;
}
