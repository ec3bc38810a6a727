import { Inject } from '@nestjs/common';
import { Args, Info, Query } from '@nestjs/graphql';
import type { GraphQLResolveInfo } from 'graphql';
import { jsonBytes } from '../domain/byte-budget.js';
import type { GetUsageRequest } from '../operations/usage.js';
import type { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import { RequireAccess } from '../transport/session-access.js';
import { SessionFields } from './access.guard.js';
import { ResponseBudget } from './limits/response-budget.js';
import { omitNulls } from './types/arguments.js';
import { SessionUsageArguments, UsageArguments, UsageReportObject } from './types/usage.types.js';

/** Tokens and cost. Whoever may list the sessions of a user or an app may read its usage. */
@SessionFields()
export class UsageResolver {
  constructor(@Inject(SERVED_SESSIONS) private readonly sessions: SessionService) {}

  @Query(() => UsageReportObject, { description: 'The tokens that a session used, by model.' })
  @RequireAccess('read', 'session')
  async sessionUsage(
    @Args({ type: () => SessionUsageArguments }) request: GetUsageRequest,
    @Info() info: GraphQLResolveInfo,
  ): Promise<UsageReportObject> {
    return this.#report(request, info);
  }

  @Query(() => UsageReportObject, { description: 'The tokens that a user used, or all users of an app, by model.' })
  @RequireAccess('list', 'sessions')
  async usage(
    @Args({ type: () => UsageArguments }) request: GetUsageRequest,
    @Info() info: GraphQLResolveInfo,
  ): Promise<UsageReportObject> {
    return this.#report(request, info);
  }

  async #report(request: GetUsageRequest, info: GraphQLResolveInfo): Promise<UsageReportObject> {
    const { models, unpricedModels, ...report } = await ResponseBudget.of(info).read(
      () => this.sessions.getUsage(omitNulls(request)),
      (found) => ({ items: found.models.length + 1, bytes: jsonBytes(found) }),
    );
    return { ...report, models: [...models], unpricedModels: [...unpricedModels] };
  }
}
