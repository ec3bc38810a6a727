import type { ArgumentsHost } from '@nestjs/common';

/** What identifies one call of a handler. A request over GraphQL has several fields, each with arguments of its own. */
export function identifyCall(host: ArgumentsHost): object {
  return host.getType<string>() === 'graphql' ? host.getArgByIndex<object>(1) : host.getArgByIndex<object>(0);
}
