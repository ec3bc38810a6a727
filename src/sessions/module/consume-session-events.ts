import { SetMetadata } from '@nestjs/common';
import type { ConsumeOptions, ConsumedEvent } from '../consumers/consume-options.js';

/** The metadata of a method that consumes events. */
export const CONSUME_SESSION_EVENTS = 'nestjs-agent-sessions:consume';

/** The options of `consume`, without the handler. */
export type ConsumeMethodOptions = Omit<ConsumeOptions, 'handler'>;

type ConsumeMethod = (consumed: ConsumedEvent) => void | Promise<void>;

/**
 * Makes a method of a provider a durable consumer: see `SessionService.consume`. It begins when the app has started, and
 * ends, after running handlers, when its modules are destroyed.
 *
 * @example
 * @Injectable()
 * class Webhooks {
 *   @ConsumeSessionEvents({ name: 'webhooks', apps: ['shop'] })
 *   async send({ event, idempotencyKey }: ConsumedEvent): Promise<void> {}
 * }
 */
export function ConsumeSessionEvents(
  options: ConsumeMethodOptions,
): <Method extends ConsumeMethod>(
  target: object,
  name: string | symbol,
  method: TypedPropertyDescriptor<Method>,
) => void {
  return SetMetadata(CONSUME_SESSION_EVENTS, options);
}
