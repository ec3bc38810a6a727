import type { LoggedEvent } from '../../sessions/domain/event.js';
import type { TakenMessage } from '../turn/control-events.js';
import type { GivenApproval } from './invocation-approvals.js';
import type { OutputRule } from './output-key.js';

/** What an invocation begins with. */
export interface InvocationStart {
  /** The message of the invocation, for its approvals. */
  readonly messageSeq?: number | undefined;
  readonly invocationId: string;
  readonly agentName: string;
  readonly output: OutputRule | undefined;
  readonly messages: readonly TakenMessage[];
  readonly isResumed: boolean;
  /** What the invocation stored before, if it is resumed. */
  readonly earlier: readonly LoggedEvent[];
  /** The part of it that belongs to this run. */
  readonly shown: readonly LoggedEvent[];
  /** The answer with which it goes on. */
  readonly given?: GivenApproval | undefined;
}
