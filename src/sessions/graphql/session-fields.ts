import { UseFilters, UseGuards, applyDecorators } from '@nestjs/common';
import { Resolver } from '@nestjs/graphql';
import { GraphqlAccessGuard } from './access.guard.js';
import { GraphqlProblemFilter } from './graphql-errors.js';

/** A resolver whose queries, mutations and subscriptions are closed unless they have `@RequireAccess`. */
export const SessionFields = (type?: () => new () => object): ClassDecorator =>
  applyDecorators(type ? Resolver(type) : Resolver(), UseGuards(GraphqlAccessGuard), UseFilters(GraphqlProblemFilter));
