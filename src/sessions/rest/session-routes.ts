import { Controller, UseFilters, UseGuards, applyDecorators } from '@nestjs/common';
import { AccessGuard } from './access.guard.js';
import { ConditionGuard } from './condition.guard.js';
import { JsonRequestGuard } from './json-body.js';
import { ProblemFilter } from './problem.filter.js';

/** A controller whose routes are closed unless they have `@RequireAccess`. */
export const SessionRoutes = (path: string): ClassDecorator =>
  applyDecorators(
    Controller(path),
    UseGuards(JsonRequestGuard, AccessGuard, ConditionGuard),
    UseFilters(ProblemFilter),
  );
