import { ArgsType, Field, Int, ObjectType } from '@nestjs/graphql';
import { DEFAULT_LIMIT } from '../../domain/paging.js';
import { SessionArguments } from './arguments.js';
import { PageInfoObject } from './object-types.js';
import { JSON_SCALAR, SAFE_INT_SCALAR } from './scalars.js';

@ArgsType()
export class StateAtArguments extends SessionArguments {
  @Field(() => SAFE_INT_SCALAR, { description: 'The last event of that moment. 0 = the initial state.' })
  seq!: number;
}

@ArgsType()
export class StateChangesArguments extends SessionArguments {
  @Field(() => SAFE_INT_SCALAR, { nullable: true, description: 'Only changes by events after this one.' })
  afterSeq?: number;

  @Field(() => String, { nullable: true, description: 'Only changes of this key, with its prefix.' })
  key?: string;

  @Field(() => Int, { nullable: true, defaultValue: DEFAULT_LIMIT, description: 'At most 1,000.' })
  first?: number;

  @Field(() => String, { nullable: true })
  after?: string;
}

@ObjectType('StateAtMoment', { description: 'The state of a session at a moment.' })
export class StateAtObject {
  @Field(() => SAFE_INT_SCALAR)
  seq!: number;

  @Field(() => JSON_SCALAR, { description: "The session's own state after the event." })
  state!: unknown;

  @Field(() => JSON_SCALAR, { description: 'Keys of user: and app: as events of this session left them.' })
  shared!: unknown;
}

@ObjectType('StateKeyChange', { description: 'What an event did to a state key.' })
export class StateChangeObject {
  @Field(() => SAFE_INT_SCALAR, { description: 'The event.' })
  seq!: number;

  @Field(() => String)
  eventId!: string;

  @Field(() => String, { description: 'With its prefix.' })
  key!: string;

  @Field(() => String, { description: 'session, user or app.' })
  scope!: string;

  @Field(() => Boolean, { description: 'False if there was no value before; null is a value.' })
  hadBefore!: boolean;

  @Field(() => JSON_SCALAR, {
    nullable: true,
    description: 'The value before. In shared scopes, what the last earlier event of this session gave.',
  })
  before?: unknown;

  @Field(() => Boolean, { description: 'False if the event removed the key; null is a value.' })
  hasAfter!: boolean;

  @Field(() => JSON_SCALAR, { nullable: true })
  after?: unknown;
}

@ObjectType('StateChangeConnection', { description: 'A page of state changes. It may be empty and have a next one.' })
export class StateChangeConnectionObject {
  @Field(() => [StateChangeObject])
  nodes!: StateChangeObject[];

  @Field(() => PageInfoObject)
  pageInfo!: PageInfoObject;

  @Field(() => SAFE_INT_SCALAR, { description: 'The first event that is kept.' })
  firstSeq!: number;

  @Field(() => SAFE_INT_SCALAR, { description: 'The last event of the log.' })
  lastSeq!: number;
}
