import { SetMetadata } from '@nestjs/common';
import type { AgentContext } from './agent-context.js';
import type { AgentOptions } from './agent-registry.js';
import type { RunHandler } from './run-request.js';

/** The metadata of a class that answers messages. */
export const AGENT_HANDLER = 'nestjs-agent-sessions:agent';

/** A class with `@AgentHandler`. */
export interface Agent {
  /** Answers a message: see {@link RunHandler}. */
  run(context: AgentContext): ReturnType<RunHandler>;
}

/**
 * Makes a provider the agent of an app, whose messages it answers. Give it to `AgentsModule.forFeature`.
 *
 * @example
 * @Injectable()
 * @AgentHandler('support')
 * class Support implements Agent {
 *   async *run(context: AgentContext): AsyncGenerator<EventInput> {
 *     yield { content: { role: 'model', parts: [{ text: 'Hello' }] } };
 *   }
 * }
 */
export function AgentHandler(
  agent: string | AgentOptions,
): <Handler extends abstract new (...args: never[]) => Agent>(target: Handler) => void {
  const options: AgentOptions = typeof agent === 'string' ? { app: agent } : agent;
  return SetMetadata(AGENT_HANDLER, options);
}
