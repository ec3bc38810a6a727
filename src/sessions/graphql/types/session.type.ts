import { Field, ObjectType } from '@nestjs/graphql';
import { JSON_SCALAR } from '../scalars/json.scalar.js';
import { SAFE_INT_SCALAR } from '../scalars/safe-int.scalar.js';
import { PageInfoObject } from './page-info.type.js';

/** A session in a list: without events, which one asks for session by session. */
@ObjectType('ListedSession', { description: 'A session in a list, without its events.' })
export class ListedSessionObject {
  @Field(() => String)
  id!: string;

  @Field(() => String)
  appName!: string;

  @Field(() => String)
  userId!: string;

  @Field(() => String, { description: 'Where ADK-style save files of this user belong.' })
  saveKey!: string;

  @Field(() => JSON_SCALAR, { description: 'All scopes merged, keys with their prefixes.' })
  state!: unknown;

  @Field(() => SAFE_INT_SCALAR, { description: 'Epoch milliseconds.' })
  createTime!: number;

  @Field(() => SAFE_INT_SCALAR, { description: 'Epoch milliseconds.' })
  lastUpdateTime!: number;

  @Field(() => SAFE_INT_SCALAR, { description: 'The number of the last event.' })
  version!: number;

  @Field(() => SAFE_INT_SCALAR, { description: 'How often the user spoke, in what is not rewound.' })
  conversationCount!: number;
}

/** Its events are a field of their own, with arguments: see SessionsResolver. */
@ObjectType('Session')
export class SessionObject extends ListedSessionObject {}

@ObjectType('SessionConnection', { description: 'A page of sessions.' })
export class SessionConnectionObject {
  @Field(() => [ListedSessionObject])
  nodes!: ListedSessionObject[];

  @Field(() => PageInfoObject)
  pageInfo!: PageInfoObject;
}
