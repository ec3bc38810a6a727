import { type Message, Role } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { DefaultRequestHandler } from '@a2a-js/sdk/server';

const BY_USERS = 'message.role must be ROLE_USER: clients do not speak for the agent.';

/**
 * The request handler of the SDK, for tasks that are sessions. It refuses messages by which a client would speak as the agent: the SDK
 * takes any role, and what is stored as said by the agent is the model's own for whoever reads the session.
 *
 * @example new SessionRequestHandler(agentCard, new SessionTaskStore({ sessions, appName: 'shop' }), executor);
 */
export class SessionRequestHandler extends DefaultRequestHandler {
  override async sendMessage(
    ...request: Parameters<DefaultRequestHandler['sendMessage']>
  ): ReturnType<DefaultRequestHandler['sendMessage']> {
    assertByUser(request[0].message);
    return super.sendMessage(...request);
  }

  override async *sendMessageStream(
    ...request: Parameters<DefaultRequestHandler['sendMessageStream']>
  ): ReturnType<DefaultRequestHandler['sendMessageStream']> {
    assertByUser(request[0].message);
    yield* super.sendMessageStream(...request);
  }
}

function assertByUser(message: Message | undefined): void {
  if (message && message.role !== Role.ROLE_USER) throw new RequestMalformedError(BY_USERS);
}
