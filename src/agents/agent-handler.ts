import { SetMetadata } from '@nestjs/common';
import { ConfigurationError } from '../config/configuration-error.js';
import { sessionParametersOf } from '../sessions/transport/session-params.js';
import type { AgentOptions } from './handler-options.js';
import type { RunHandler } from './invocation/agent-context.js';

/** The metadata of a class that answers messages. */
export const AGENT_HANDLER = 'nestjs-agent-sessions:agent';

/** A class with `@AgentHandler`. */
export interface Agent {
  /**
   * Answers a message: see {@link RunHandler}. Parameters with `@CurrentSession()` or `@SessionState()` get what they name; all
   * others get the context.
   */
  run(...args: never[]): ReturnType<RunHandler>;
}

/** The handler of an agent. */
export function handlerOf(agent: Agent): RunHandler {
  if (typeof agent.run !== 'function') {
    throw new ConfigurationError([
      `The agent ${agent.constructor.name} has no run(), and so nothing that answers: see the interface Agent.`,
    ]);
  }
  const given = sessionParametersOf(agent, 'run');
  const run = agent.run.bind(agent) as (...args: unknown[]) => ReturnType<RunHandler>;
  if (given.size === 0) return (context) => run(context);
  const count = Math.max(agent.run.length, ...[...given.keys()].map((index) => index + 1));
  return (context) => {
    const argument = (index: number): unknown => {
      const pick = given.get(index);
      return pick ? pick(context.session) : context;
    };
    return run(...Array.from({ length: count }, (_, index) => argument(index)));
  };
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
