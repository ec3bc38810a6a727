import { SessionsError } from '../../sessions/domain/errors/errors.js';
import type { SessionKey } from '../../sessions/domain/values/ids.js';
import { stackOf } from '../../sessions/domain/errors/thrown-text.js';
import { type Failure, type FailureReason, failureReasonOf } from './failure-reason.js';

/** What users read. The error itself may be secret. */
export const FAILURE_MESSAGES: Readonly<Record<FailureReason, string>> = {
  RATE_LIMITED: 'The agent failed: what it needs was asked too often. Try again later.',
  TIMEOUT: 'The agent failed: what it needs did not answer in time. Try again.',
  UNAVAILABLE: 'The agent failed: what it needs is not available. Try again later.',
  FAULT: 'The agent failed.',
};

/** The run that failed. */
export interface FailedRun extends SessionKey {
  readonly invocationId: string;
  readonly agentName: string;
}

/** Further details of {@link AgentFailedError}. */
export interface AgentFailedOptions extends ErrorOptions {
  /** Default: unless it is a `FAULT`. */
  readonly retryable?: boolean | undefined;
  readonly run?: FailedRun | undefined;
}

/**
 * A handler threw: `cause` says what, and `reason` what kind of error it is. The log of the server has it; clients get the reason
 * alone. A handler that knows better throws one itself.
 *
 * @example
 * if (quota.isUsedUp) throw new AgentFailedError('RATE_LIMITED', { retryable: false });
 */
export class AgentFailedError extends SessionsError implements Failure {
  readonly code = 'AGENT_FAILED';
  readonly status = 500;
  readonly retryable: boolean;
  /** Missing if a handler made the error. */
  readonly run: FailedRun | undefined;

  constructor(
    readonly reason: FailureReason,
    { retryable = reason !== 'FAULT', run, ...options }: AgentFailedOptions = {},
  ) {
    super(run ? messageFor(reason, run) : FAILURE_MESSAGES[reason], options);
    this.retryable = retryable;
    this.run = run;
  }

  override get publicMessage(): string {
    return FAILURE_MESSAGES[this.reason];
  }

  override get publicDetails(): Readonly<Record<string, unknown>> {
    const { reason, retryable, run } = this;
    return { reason, retryable, ...(run && { invocationId: run.invocationId }) };
  }

  override get isLogged(): boolean {
    return this.run !== undefined;
  }

  /** The stacks of what was thrown, and of its causes. */
  get trace(): string {
    const stacks: string[] = [];
    for (let error = this.cause; error !== undefined && stacks.length < MAX_STACKS;) {
      stacks.push(stackOf(error));
      error = error instanceof Error ? error.cause : undefined;
    }
    return stacks.join('\nCaused by: ');
  }
}

const MAX_STACKS = 8;

function messageFor(reason: FailureReason, run: FailedRun): string {
  const { appName, userId, sessionId, invocationId, agentName } = run;
  const place = [invocationId, [appName, userId, sessionId]].map((id) => JSON.stringify(id)).join(' of session ');
  return `The agent ${JSON.stringify(agentName)} failed (${reason}) in the invocation ${place}.`;
}

/** The failure of a run whose handler threw this. */
export function toAgentFailedError(error: unknown, run: FailedRun): AgentFailedError {
  const { reason, retryable } = error instanceof AgentFailedError ? error : { reason: failureReasonOf(error) };
  return new AgentFailedError(reason, { retryable, run, cause: error });
}
