import { ArgsType, Field, ObjectType } from '@nestjs/graphql';
import { SessionArguments } from './arguments.js';
import { SAFE_INT_SCALAR } from './scalars.js';

const TTL = { nullable: true, description: 'How long the turn lasts from now on, in milliseconds. 30,000 by default.' };

@ObjectType('TurnHolder', { description: 'Who holds the turn of a session.' })
export class TurnHolderObject {
  @Field(() => String)
  holder!: string;

  @Field(() => SAFE_INT_SCALAR, { description: 'Counts the turns of the session.' })
  number!: number;

  @Field(() => SAFE_INT_SCALAR, { description: 'Epoch milliseconds, by the clock of the store.' })
  expiresAt!: number;
}

@ObjectType('Turn', { description: 'A turn of the caller.' })
export class TurnObject extends TurnHolderObject {
  @Field(() => String, { description: 'Pass it as `turn` with each write. Keep it from other writers.' })
  token!: string;

  @Field(() => SAFE_INT_SCALAR)
  ttlMs!: number;
}

@ArgsType()
export class BeginTurnArguments extends SessionArguments {
  @Field(() => String, { description: 'Names the writer to others.' })
  holder!: string;

  @Field(() => SAFE_INT_SCALAR, TTL)
  ttlMs?: number;

  @Field(() => String, { nullable: true, description: 'Makes retries safe: the same holder gets its turn again.' })
  requestId?: string;
}

@ArgsType()
export class EndTurnArguments extends SessionArguments {
  @Field(() => String)
  token!: string;
}

@ArgsType()
export class RenewTurnArguments extends EndTurnArguments {
  @Field(() => SAFE_INT_SCALAR, TTL)
  ttlMs?: number;
}
