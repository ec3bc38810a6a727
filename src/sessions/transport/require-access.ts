import { SetMetadata } from '@nestjs/common';
import type { UncheckedWrite } from '../domain/write-description.js';
import type { AccessRequest } from './session-access.js';

/** The access that a route or a field requires. */
export interface AccessRequirement extends Pick<AccessRequest, 'action' | 'target'> {
  /** Describes the write from the request body or the arguments of the field, before validation. */
  readonly writes?: ((input: Readonly<Record<string, unknown>>) => UncheckedWrite) | undefined;
}

/** The metadata key of a handler's {@link AccessRequirement}. */
export const ACCESS_REQUIREMENT = 'nestjs-agent-sessions:access-requirement';

/**
 * Declares the access that a route, query, mutation or subscription requires. A handler without it is closed. A write without
 * `writes` is refused, unless the rule allows any write.
 *
 * @param writes describes the write from the request body or the arguments of the field
 * @example
 * @Post()
 * @RequireAccess('write', 'session', ({ text }) => ({ event: { author: 'user', content: { parts: [{ text }] } } }))
 * add(@Param() key: SessionKey, @Body() note: Note) {}
 */
export const RequireAccess = (
  action: AccessRequirement['action'],
  target: AccessRequirement['target'],
  writes?: AccessRequirement['writes'],
): MethodDecorator => SetMetadata(ACCESS_REQUIREMENT, { action, target, writes } satisfies AccessRequirement);
