import { ConfigurationError } from '../config/configuration-error.js';
import { SessionsError } from '../sessions/domain/errors.js';
import { assertId } from '../sessions/domain/ids.js';
import type { StandardSchema } from '../state/standard-schema.js';
import type { AgentRun } from './agent-run.js';
import type { AgentSessions } from './agent-sessions.js';
import type { RunPolicy } from './control-events.js';
import type { AnswerRequest, RunHandler, RunRequest } from './run-request.js';

/** An agent that answers the messages of an app. */
export interface AgentOptions {
  /** The app whose messages it answers. */
  readonly app: string;
  /** The author of its events. Default: the name of the app. */
  readonly name?: string | undefined;
  /** What happens with messages that overlap, unless the request says otherwise. Default: `reject`. */
  readonly policy?: RunPolicy | undefined;
  /** How long `debounce` waits for further messages, unless the request says otherwise. Default: 1,000 ms. */
  readonly quietMs?: number | undefined;
  readonly outputKey?: string | undefined;
  readonly outputSchema?: StandardSchema | undefined;
  /** Checks the payloads of answers to approvals, by the name of the tool that asks. */
  readonly approvals?: Readonly<Record<string, StandardSchema>> | undefined;
}

/**
 * No agent answers the messages of the app.
 *
 * @example if (error instanceof AgentNotFoundError) return reply.status(404).send();
 */
export class AgentNotFoundError extends SessionsError {
  readonly code = 'AGENT_NOT_FOUND';
  readonly status = 404;

  constructor(readonly appName: string) {
    super(`No agent answers messages of the app ${JSON.stringify(appName)}. Give one to AgentsModule.forFeature().`);
  }
}

interface RegisteredAgent {
  readonly options: AgentOptions;
  readonly handler: RunHandler;
}

/**
 * The agents of this process, by the apps whose messages they answer.
 *
 * @example
 * const run = registry.run({ appName: 'support', userId: 'ann', newMessage: 'Hello' });
 * const { events } = await run.result;
 */
export class AgentRegistry {
  readonly #agents = new Map<string, RegisteredAgent>();

  constructor(private readonly sessions: AgentSessions) {}

  /**
   * Adds an agent. `AgentsModule` does it for classes with `@AgentHandler`.
   * @example registry.register({ app: 'support' }, answer);
   */
  register(options: AgentOptions, handler: RunHandler): void {
    if (this.#agents.has(options.app)) {
      throw new ConfigurationError([`Two agents answer messages of the app ${JSON.stringify(options.app)}.`]);
    }
    this.#agents.set(options.app, { options, handler });
  }

  /** The apps that have an agent. */
  get apps(): readonly string[] {
    return [...this.#agents.keys()];
  }

  /**
   * Answers a message with the agent of its app: see `AgentSessions.run`.
   * @example await registry.run({ appName: 'support', userId: 'ann', sessionId, newMessage: 'Hello' }).result;
   */
  run(request: RunRequest): AgentRun {
    const { options, handler } = this.#agentOf(request);
    const { app, name = app, policy, quietMs, outputKey, outputSchema } = options;
    const defaults = { agentName: name, policy, quietMs, outputKey, outputSchema };
    return this.sessions.run(withDefaults(request, defaults), handler);
  }

  /**
   * Answers an approval, and goes on with the agent of the app: see `AgentSessions.answerApproval`.
   * @example await registry.answerApproval({ ...key, approvalId, answer: { confirmed: true } }).result;
   */
  answerApproval(request: AnswerRequest): AgentRun {
    const { options, handler } = this.#agentOf(request);
    const { outputKey, outputSchema, approvals } = options;
    const defaults = { outputKey, outputSchema, schemas: approvals };
    return this.sessions.answerApproval(withDefaults(request, defaults), handler);
  }

  #agentOf({ appName }: { readonly appName: string }): RegisteredAgent {
    assertId(appName, 'appName');
    const agent = this.#agents.get(appName);
    if (!agent) throw new AgentNotFoundError(appName);
    return agent;
  }
}

/** An option that is `undefined` counts as missing. */
function withDefaults<Request extends object>(request: Request, defaults: Partial<Request>): Request {
  const given = Object.entries(request).filter(([, value]) => value !== undefined);
  return Object.assign({ ...defaults }, Object.fromEntries(given)) as Request;
}
