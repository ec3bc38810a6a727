import { ArgsType, Field, Int, registerEnumType } from '@nestjs/graphql';
import { DEFAULT_LIMIT } from '../../domain/paging.js';
import { SAFE_INT_SCALAR } from '../scalars/safe-int.scalar.js';
import { JSON_SCALAR } from '../scalars/json.scalar.js';

enum SortOrder {
  ASC = 'asc',
  DESC = 'desc',
}
registerEnumType(SortOrder, { name: 'SortOrder' });

enum SessionOrderBy {
  LAST_UPDATE_TIME = 'lastUpdateTime',
  CREATE_TIME = 'createTime',
}
registerEnumType(SessionOrderBy, {
  name: 'SessionOrderBy',
  description: 'By CREATE_TIME, a walk through all pages is complete even while sessions change.',
});

// Ids and numbers are checked by the rules of sessions, which every store relies on.

@ArgsType()
export class AppArguments {
  @Field(() => String)
  appName!: string;
}

@ArgsType()
export class UserArguments extends AppArguments {
  @Field(() => String)
  userId!: string;
}

@ArgsType()
export class SessionArguments extends UserArguments {
  @Field(() => String)
  sessionId!: string;
}

@ArgsType()
export class NarrowingArguments {
  @Field(() => SAFE_INT_SCALAR, { nullable: true, description: 'Newest events of the view; 0 = none.' })
  numRecentEvents?: number;

  @Field(() => SAFE_INT_SCALAR, { nullable: true, description: 'Only events of this time or later.' })
  afterTimestamp?: number;

  @Field(() => SAFE_INT_SCALAR, { nullable: true, description: 'Only events after this one.' })
  afterSeq?: number;
}

@ArgsType()
export class SessionPageArguments extends AppArguments {
  @Field(() => String, { nullable: true, description: 'All users of the app, where it is left out.' })
  userId?: string;

  @Field(() => Int, { nullable: true, defaultValue: DEFAULT_LIMIT, description: 'At most 1,000.' })
  first?: number;

  @Field(() => String, { nullable: true })
  after?: string;

  @Field(() => SortOrder, { nullable: true, description: 'Newest first unless said otherwise.' })
  order?: SortOrder;

  @Field(() => SessionOrderBy, { nullable: true })
  orderBy?: SessionOrderBy;
}

@ArgsType()
export class EventPageArguments extends SessionArguments {
  @Field(() => Int, { nullable: true, defaultValue: DEFAULT_LIMIT, description: 'At most 1,000.' })
  first?: number;

  @Field(() => String, { nullable: true })
  after?: string;

  @Field(() => SAFE_INT_SCALAR, { nullable: true, description: 'Only events after this one.' })
  afterSeq?: number;

  @Field(() => SAFE_INT_SCALAR, { nullable: true, description: 'Only events before this one.' })
  beforeSeq?: number;

  @Field(() => SortOrder, { nullable: true, description: 'Oldest first unless said otherwise.' })
  order?: SortOrder;
}

@ArgsType()
export class CreateSessionArguments extends UserArguments {
  @Field(() => String, { nullable: true, description: 'One is generated where it is left out.' })
  sessionId?: string;

  @Field(() => JSON_SCALAR, { nullable: true, description: 'Initial state, in all scopes.' })
  state?: unknown;
}

@ArgsType()
export class AppendEventArguments extends SessionArguments {
  @Field(() => JSON_SCALAR, { description: 'The event; what is missing is filled in. Its id makes it safe to repeat.' })
  event!: unknown;

  @Field(() => SAFE_INT_SCALAR, { nullable: true, description: 'Refused if the session is not at this version.' })
  expectedVersion?: number;
}

@ArgsType()
export class WatchArguments extends SessionArguments {
  @Field(() => SAFE_INT_SCALAR, {
    nullable: true,
    description: 'The last event that is known; from now on unless given.',
  })
  afterSeq?: number;
}

@ArgsType()
export class RewindArguments extends SessionArguments {
  @Field(() => SAFE_INT_SCALAR, { nullable: true, description: 'The last event that is kept.' })
  toSeq?: number;

  @Field(() => String, { nullable: true, description: 'Back to before this invocation.' })
  invocationId?: string;

  @Field(() => SAFE_INT_SCALAR, { nullable: true, description: 'Refused if the session is not at this version.' })
  expectedVersion?: number;
}

@ArgsType()
export class ForkArguments extends SessionArguments {
  @Field(() => SAFE_INT_SCALAR, { nullable: true, description: 'As it was after this event; as it is unless given.' })
  atSeq?: number;

  @Field(() => String, { nullable: true, description: 'One is generated where it is left out.' })
  newSessionId?: string;
}
