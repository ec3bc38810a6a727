import { ConfigurationError } from '../config/configuration-error.js';
import { withDefaults } from '../config/with-defaults.js';
import { SessionsError } from '../sessions/domain/errors/errors.js';
import { assertId } from '../sessions/domain/values/ids.js';
import type { AgentRun } from './ask/agent-run.js';
import type { AgentSessions } from './agent-sessions.js';
import type { AnswerRequest, RunRequest } from './ask/run-request.js';
import { type AgentOptions, checkHandlerOptions, listAppNames } from './handler-options.js';
import type { RunHandler } from './invocation/agent-context.js';

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
  readonly #named = new Map<string, RegisteredAgent>();
  readonly #choosing: (RegisteredAgent & { readonly chooses: (appName: string) => boolean })[] = [];

  constructor(private readonly sessions: AgentSessions) {}

  /**
   * Adds an agent. `AgentsModule` does it for classes with `@AgentHandler`.
   * @example registry.register({ app: 'support' }, answer);
   */
  register(options: AgentOptions, handler: RunHandler): void {
    checkHandlerOptions(options);
    const { app } = options;
    const names = listAppNames(app);
    if (typeof app === 'function') {
      this.#choosing.push({ options, handler, chooses: app });
      return;
    }
    for (const name of names as readonly string[]) {
      if (this.#named.has(name)) {
        throw new ConfigurationError([`Two agents answer messages of the app ${JSON.stringify(name)}.`]);
      }
    }
    for (const name of names as readonly string[]) this.#named.set(name, { options, handler });
  }

  /** The apps that agents name. */
  get apps(): readonly string[] {
    return [...this.#named.keys()];
  }

  /** Whether an agent has a function that says which apps it answers. */
  get isOpen(): boolean {
    return this.#choosing.length > 0;
  }

  /**
   * The apps that have an agent: those that agents name, and those of the store that a function chooses.
   * @example await registry.listApps(); // ['shop', 'tenant-7']
   */
  async listApps(): Promise<readonly string[]> {
    if (!this.isOpen) return this.apps;
    const stored = await this.sessions.storedApps();
    return [...new Set([...this.apps, ...stored.filter((name) => this.#chosenFor(name) !== undefined)])];
  }

  /**
   * Answers a message with the agent of its app: see `AgentSessions.run`.
   * @example await registry.run({ appName: 'support', userId: 'ann', sessionId, newMessage: 'Hello' }).result;
   */
  run(request: RunRequest): AgentRun {
    const { options, handler } = this.#agentOf(request);
    const { name = request.appName, policy, quietMs } = options;
    const defaults = { agentName: name, policy, quietMs, ...pickOutputOptions(options) };
    return this.sessions.run(withDefaults<RunRequest>(request, defaults), handler);
  }

  /**
   * Answers an approval, and goes on with the agent of the app: see `AgentSessions.answerApproval`.
   * @example await registry.answerApproval({ ...key, approvalId, answer: { confirmed: true } }).result;
   */
  answerApproval(request: AnswerRequest): AgentRun {
    const { options, handler } = this.#agentOf(request);
    const defaults = { ...pickOutputOptions(options), schemas: options.approvals };
    return this.sessions.answerApproval(withDefaults<AnswerRequest>(request, defaults), handler);
  }

  /**
   * Lets agents go on whose approvals have expired, of all apps: see `AgentSessions.expireApprovals`.
   * @example await registry.expireApprovals();
   */
  async expireApprovals(): Promise<number> {
    let times = 0;
    for (const appName of await this.listApps()) {
      const { options, handler } = this.#agentOf({ appName });
      times += await this.sessions.expireApprovals({ appName, ...pickOutputOptions(options) }, handler);
    }
    return times;
  }

  #agentOf({ appName }: { readonly appName: string }): RegisteredAgent {
    assertId(appName, 'appName');
    const agent = this.#named.get(appName) ?? this.#chosenFor(appName);
    if (!agent) throw new AgentNotFoundError(appName);
    return agent;
  }

  #chosenFor(appName: string): RegisteredAgent | undefined {
    const [agent, other] = this.#choosing.filter(({ chooses }) => chooses(appName));
    if (other) throw new ConfigurationError([`Two agents answer messages of the app ${JSON.stringify(appName)}.`]);
    return agent;
  }
}

function pickOutputOptions({
  outputKey,
  outputSchema,
  onMismatch,
}: AgentOptions): Pick<AgentOptions, 'outputKey' | 'outputSchema' | 'onMismatch'> {
  return { outputKey, outputSchema, onMismatch };
}
