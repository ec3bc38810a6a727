import { Field, ObjectType } from '@nestjs/graphql';
import { JSON_SCALAR } from '../scalars/json.scalar.js';
import { SAFE_INT_SCALAR } from '../scalars/safe-int.scalar.js';
import { PageInfoObject } from './page-info.type.js';

/** An entry of a log. */
@ObjectType('Event', { description: 'One entry of the log of a session.' })
export class EventObject {
  @Field(() => String)
  id!: string;

  @Field(() => SAFE_INT_SCALAR, { description: 'The place in the log, counted from 1.' })
  seq!: number;

  @Field(() => String)
  invocationId!: string;

  @Field(() => String, { nullable: true })
  author?: string | undefined;

  @Field(() => String, { nullable: true })
  branch?: string | undefined;

  @Field(() => SAFE_INT_SCALAR, { description: 'Epoch milliseconds.' })
  timestamp!: number;

  @Field(() => JSON_SCALAR, { nullable: true, description: 'What was said: role and parts.' })
  content?: unknown;

  @Field(() => JSON_SCALAR, { description: 'What it does besides being said, such as changes of state.' })
  actions!: unknown;

  @Field(() => JSON_SCALAR, { description: 'The whole event with all its fields, as it is stored.' })
  body!: unknown;
}

@ObjectType('EventConnection', { description: 'A page of the log.' })
export class EventConnectionObject {
  @Field(() => [EventObject])
  nodes!: EventObject[];

  @Field(() => PageInfoObject)
  pageInfo!: PageInfoObject;

  @Field(() => SAFE_INT_SCALAR, { description: 'First event that is kept; events before it were trimmed.' })
  firstSeq!: number;

  @Field(() => SAFE_INT_SCALAR)
  lastSeq!: number;
}

@ObjectType('AppendResult')
export class AppendResultObject {
  @Field(() => EventObject, { nullable: true, description: 'As it is stored; null for a partial event, which is not.' })
  event?: EventObject | undefined;

  @Field(() => Boolean, { description: 'Whether it was stored before, and this call changed nothing.' })
  duplicate!: boolean;
}
