import { Inject } from '@nestjs/common';
import { Args, Mutation, Query } from '@nestjs/graphql';
import type { SessionKey } from '../domain/ids.js';
import type { BeginTurnRequest, EndTurnRequest, RenewTurnRequest } from '../operations/turns.js';
import type { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import { RequireAccess } from '../transport/session-access.js';
import { TAKES_TURN } from '../transport/request-writes.js';
import { omitNulls, SessionArguments } from './types/arguments.js';
import { SessionFields } from './access.guard.js';
import {
  BeginTurnArguments,
  EndTurnArguments,
  RenewTurnArguments,
  TurnHolderObject,
  TurnObject,
} from './types/turn.types.js';

/** The turn of a session. */
@SessionFields()
export class TurnsResolver {
  constructor(@Inject(SERVED_SESSIONS) private readonly sessions: SessionService) {}

  @Query(() => TurnHolderObject, { nullable: true, description: 'Who holds the turn of the session, or null.' })
  @RequireAccess('read', 'session')
  async turn(@Args({ type: () => SessionArguments }) key: SessionKey): Promise<TurnHolderObject | null> {
    return (await this.sessions.getTurn(key)) ?? null;
  }

  @Mutation(() => TurnObject, { description: 'Begins a turn. Fails if another request holds it.' })
  @RequireAccess('write', 'session', TAKES_TURN)
  async beginTurn(@Args({ type: () => BeginTurnArguments }) args: BeginTurnRequest): Promise<TurnObject> {
    return this.sessions.beginTurn(omitNulls(args));
  }

  @Mutation(() => TurnObject, { description: 'Lets the turn last longer. Fails if it is over.' })
  @RequireAccess('write', 'session', TAKES_TURN)
  async renewTurn(@Args({ type: () => RenewTurnArguments }) args: RenewTurnRequest): Promise<TurnObject> {
    return this.sessions.renewTurn(omitNulls(args));
  }

  @Mutation(() => Boolean, { description: 'Ends the turn. Always true, also if it is over.' })
  @RequireAccess('write', 'session', TAKES_TURN)
  async endTurn(@Args({ type: () => EndTurnArguments }) args: EndTurnRequest): Promise<boolean> {
    await this.sessions.endTurn(args);
    return true;
  }
}
