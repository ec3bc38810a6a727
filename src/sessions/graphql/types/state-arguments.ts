import { ArgsType, Field } from '@nestjs/graphql';
import { JSON_SCALAR } from '../scalars/json.scalar.js';
import { SAFE_INT_SCALAR } from '../scalars/safe-int.scalar.js';
import { AppArguments, SessionArguments, UserArguments } from './arguments.js';

const DELTA = { nullable: true, description: 'Keys to set; null is a value.' } as const;
const REMOVALS = { nullable: true, description: 'Keys to remove.' } as const;

@ArgsType()
export class SessionStateArguments extends SessionArguments {
  @Field(() => JSON_SCALAR, DELTA)
  stateDelta?: unknown;

  @Field(() => [String], REMOVALS)
  stateRemovals?: string[];

  @Field(() => SAFE_INT_SCALAR, { nullable: true, description: 'Refused if the session is not at this version.' })
  expectedVersion?: number;
}

@ArgsType()
export class UserStateArguments extends UserArguments {
  @Field(() => JSON_SCALAR, DELTA)
  stateDelta?: unknown;

  @Field(() => [String], REMOVALS)
  stateRemovals?: string[];
}

@ArgsType()
export class AppStateArguments extends AppArguments {
  @Field(() => JSON_SCALAR, DELTA)
  stateDelta?: unknown;

  @Field(() => [String], REMOVALS)
  stateRemovals?: string[];
}
