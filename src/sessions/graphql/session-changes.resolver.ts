import { UseFilters } from '@nestjs/common';
import { Args, Mutation, Resolver } from '@nestjs/graphql';
import { type SessionKey, isBlank } from '../domain/ids.js';
import { HiddenDeletion, checkAccess, checkSharedWrites } from '../faces/access-checks.js';
import { SessionAccess } from '../faces/session-access.js';
import type { CreateSessionRequest } from '../operations/create-session.js';
import type { ForkSessionRequest } from '../operations/fork-session.js';
import type { RewindSessionRequest } from '../operations/rewind-session.js';
import { SessionService } from '../session.service.js';
import { Asker } from './asker.js';
import { given } from './given.js';
import { GraphqlProblemFilter } from './graphql-problem.filter.js';
import { type ShownSession, shownSession } from './shown-session.js';
import { CreateSessionArguments, ForkArguments, RewindArguments, SessionArguments } from './types/arguments.js';
import { SessionObject } from './types/session.type.js';

/** What makes, changes and removes whole sessions. */
@Resolver()
@UseFilters(GraphqlProblemFilter)
export class SessionChangesResolver {
  constructor(
    private readonly sessions: SessionService,
    private readonly access: SessionAccess,
  ) {}

  @Mutation(() => SessionObject, { description: 'A new session; refused where a live one has the id.' })
  async createSession(
    @Args({ type: () => CreateSessionArguments }) args: CreateSessionRequest,
    @Asker() request: unknown,
  ): Promise<ShownSession> {
    const wanted = given(args);
    await this.#checkCreation(wanted, request);
    return shownSession(await this.sessions.createSession(wanted));
  }

  @Mutation(() => SessionObject, { description: 'The session of this id, created if there is none yet.' })
  async getOrCreateSession(
    @Args({ type: () => CreateSessionArguments }) args: CreateSessionRequest,
    @Asker() request: unknown,
  ): Promise<ShownSession> {
    const wanted = given(args);
    await this.#checkCreation(wanted, request);
    const { appName, userId, sessionId } = wanted;
    // There may be one already, and then it is read.
    if (!isBlank(sessionId)) {
      await checkAccess(this.access, { action: 'read', target: 'session', appName, userId, sessionId, request });
    }
    return shownSession(await this.sessions.getOrCreateSession(wanted));
  }

  @Mutation(() => Boolean, { description: 'True, whether there was one or not; shared state stays.' })
  async deleteSession(
    @Args({ type: () => SessionArguments }) key: SessionKey,
    @Asker() request: unknown,
  ): Promise<boolean> {
    try {
      await checkAccess(this.access, { action: 'delete', target: 'session', ...key, request });
      await this.sessions.deleteSession(key);
    } catch (error) {
      if (!(error instanceof HiddenDeletion)) throw error;
    }
    return true;
  }

  @Mutation(() => SessionObject, { description: 'Takes a session back to a moment, with its own state.' })
  async rewindSession(
    @Args({ type: () => RewindArguments }) args: RewindSessionRequest,
    @Asker() request: unknown,
  ): Promise<ShownSession> {
    const { appName, userId, sessionId } = args;
    await checkAccess(this.access, { action: 'write', target: 'session', appName, userId, sessionId, request });
    return shownSession(await this.sessions.rewindSession(given(args)));
  }

  @Mutation(() => SessionObject, { description: 'A new session of what this one shows, or showed at a moment.' })
  async forkSession(
    @Args({ type: () => ForkArguments }) args: ForkSessionRequest,
    @Asker() request: unknown,
  ): Promise<ShownSession> {
    const { appName, userId, sessionId } = args;
    await checkAccess(this.access, { action: 'write', target: 'session', appName, userId, sessionId, request });
    await checkAccess(this.access, { action: 'create', target: 'sessions', appName, userId, request });
    return shownSession(await this.sessions.forkSession(given(args)));
  }

  /** New sessions may write shared state as well. */
  async #checkCreation({ appName, userId, state }: CreateSessionRequest, request: unknown): Promise<void> {
    await checkAccess(this.access, { action: 'create', target: 'sessions', appName, userId, request });
    await checkSharedWrites(this.access, { appName, userId, stateDelta: state, request });
  }
}
