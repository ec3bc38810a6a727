import type { Content, ContentInput } from '../../sessions/domain/event/content.js';
import { InvalidInputError } from '../../sessions/domain/errors/errors.js';
import { checkSetting, optionalCount, optionalFlag } from '../../sessions/domain/values/input-checks.js';
import { isPlainObject } from '../../sessions/domain/values/json-value.js';
import type { LoggedEvent } from '../../sessions/domain/event/event.js';
import {
  type SessionKey,
  type UserKey,
  assertId,
  checkedSessionKey,
  isBlank,
} from '../../sessions/domain/values/ids.js';
import type { Session } from '../../sessions/domain/session/session.js';
import type { GetSessionConfig } from '../../sessions/domain/view/view-config.js';
import type { StandardSchema } from '../../state/standard-schema.js';
import { invocationOfApproval } from '../invocation/approval-ids.js';
import { answerContent } from '../invocation/approval-answers.js';
import { type ApprovalAnswer } from '../invocation/approval-requests.js';
import type { RunPolicy } from '../turn/run-policy.js';
import { MAX_INVOCATION_BYTES, RUN_SETTINGS, isNameOfUser } from './run-settings.js';
import type { OutputRule } from '../invocation/output-key.js';
import { tempOf } from '../turn/queue-place.js';
import type { RunStatus } from '../invocation/run-status.js';
import { userContent } from './user-message.js';

/** A message for an agent. */
export interface RunRequest extends UserKey {
  /** Generated if missing. The session is created if there is none. */
  readonly sessionId?: string | undefined;
  /** The user's message: a text, or a content whose parts say something. Its role is `user`. */
  readonly newMessage: ContentInput | string;
  /** What happens while another turn runs. Default: `reject`. */
  readonly policy?: RunPolicy | undefined;
  /**
   * Makes retries safe: a repeated request with the same id returns the events of the first one. At most 150 bytes.
   * Generated if missing.
   */
  readonly invocationId?: string | undefined;
  /**
   * Lets the agent try again if the invocation failed: the handler is called again, with `context.isResumed`, and the message is not
   * stored again. Otherwise the request is repeated as usual. Needs the `invocationId`.
   */
  readonly retry?: boolean | undefined;
  /** The author of events without author. Default: `agent`. */
  readonly agentName?: string | undefined;
  /** The state key for the final text of `agentName`: `answer`, `user:answer`, `temp:answer`. */
  readonly outputKey?: string | undefined;
  /** The final text is JSON of this schema: its value is saved under `outputKey`. */
  readonly outputSchema?: StandardSchema | undefined;
  /** Learns why an output does not fit `outputSchema`. If it throws, the run fails, and nothing is saved. Default: a warning in the log. */
  readonly onMismatch?: ((problem: string) => void) | undefined;
  /** State changes that are stored with the message. */
  readonly stateDelta?: Record<string, unknown> | undefined;
  /** Kept as `customMetadata` of the event with the message. */
  readonly customMetadata?: Record<string, unknown> | undefined;
  /**
   * Rewinds the session before the message is stored, in the same turn: the last event that is kept, 0 for none. For messages that
   * replace earlier ones. A repeated request rewinds nothing.
   */
  readonly rewindTo?: number | undefined;
  /** The state of a session that has to be created. */
  readonly state?: Record<string, unknown> | undefined;
  /** Whether to create the session if there is none. Default: `true`. */
  readonly create?: boolean | undefined;
  /** Narrows the view that the handler gets. Default: the whole view. */
  readonly config?: GetSessionConfig | undefined;
  /** Stops the run. */
  readonly signal?: AbortSignal | undefined;
  /** How long `debounce` waits for further messages: up to an hour. Default: 1,000 ms. */
  readonly quietMs?: number | undefined;
}

/** The result of a run. */
export interface RunResult {
  /**
   * `completed`; `stopped` by `stop` or the signal; `interrupted` by another message, or by the end of its process; or
   * `waiting` for an approval.
   */
  readonly status: RunStatus;
  /** The invocation that answered: another one, if the message was merged into it. */
  readonly invocationId: string;
  /** The stored events of the invocation, without the message. */
  readonly events: readonly LoggedEvent[];
  /** The session after the run. */
  readonly session: Session;
}

/** A validated request. */
export interface CheckedRun {
  readonly key: SessionKey;
  /** Whether the session cannot exist yet, since its id was generated. */
  readonly isNewSession: boolean;
  readonly mayCreate: boolean;
  readonly message: Content;
  readonly policy: RunPolicy;
  readonly invocationId: string;
  /** Whether this may be the repetition of an earlier request. */
  readonly mayBeRetry: boolean;
  /** Whether a failed invocation is to go on. */
  readonly retriesFailure: boolean;
  readonly agentName: string;
  readonly output: OutputRule | undefined;
  readonly stateDelta: Record<string, unknown> | undefined;
  readonly customMetadata: Record<string, unknown> | undefined;
  readonly rewindTo: number | undefined;
  readonly state: Record<string, unknown> | undefined;
  readonly config: GetSessionConfig | undefined;
  readonly quietMs: number;
  /** The run goes on with the answer to an approval. */
  readonly answer?: GivenAnswer | undefined;
}

/** The answer to an approval, as it is stored. */
export interface GivenAnswer {
  readonly approvalId: string;
  readonly content: Content;
  readonly schemas: Readonly<Record<string, StandardSchema>> | undefined;
  /** Nobody answers: the request has expired. */
  readonly isExpiry?: boolean;
}

/** The invocation to stop. */
export interface StopRunRequest extends SessionKey {
  /** Default: the one that runs. */
  readonly invocationId?: string | undefined;
}

/** The answer to an approval. */
export interface AnswerRequest<Payload = unknown> extends SessionKey {
  readonly approvalId: string;
  readonly answer: ApprovalAnswer<Payload>;
  /** Checks the payload of an answer that confirms, before it is stored. */
  readonly schema?: StandardSchema<unknown, Payload> | undefined;
  /** Instead of `schema`: by the name of the tool that asks. */
  readonly schemas?: Readonly<Record<string, StandardSchema>> | undefined;
  /** While another turn runs: `enqueue` waits, `reject` fails with `TurnHeldError`. Default: `enqueue`. */
  readonly policy?: 'enqueue' | 'reject' | undefined;
  /** As for {@link RunRequest}. */
  readonly outputKey?: string | undefined;
  readonly outputSchema?: StandardSchema | undefined;
  readonly onMismatch?: ((problem: string) => void) | undefined;
  readonly config?: GetSessionConfig | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Checks the answer to an approval, and makes a run of it. */
export function checkedAnswerRun(request: AnswerRequest): CheckedRun {
  const { approvalId, policy = 'enqueue' } = request;
  assertId(approvalId, 'approvalId');
  if (policy !== 'enqueue' && policy !== 'reject') {
    throw new InvalidInputError('must be enqueue or reject', 'policy');
  }
  const { confirmed, payload } = { ...request.answer };
  if (typeof confirmed !== 'boolean') throw new InvalidInputError('must be true or false', 'answer.confirmed');
  const content = answerContent(approvalId, { confirmed, ...(payload !== undefined && { payload }) });
  const invocationId = invocationOfApproval(approvalId);
  const { appName, userId, sessionId, config } = request;
  const newMessage = content;
  const { outputKey, outputSchema, onMismatch } = request;
  const output = { outputKey, outputSchema, onMismatch };
  const run = { appName, userId, sessionId, newMessage, invocationId, policy, config, ...output };
  const checked = checkedRun(run, () => '');
  return { ...checked, mayCreate: false, answer: { approvalId, content: checked.message, schemas: request.schemas } };
}

/** Checks what counts as the answer to an approval that has expired. */
export function checkedExpiry(request: Omit<AnswerRequest, 'answer'>): CheckedRun {
  const { answer, ...checked } = checkedAnswerRun({ ...request, answer: { confirmed: false } });
  return { ...checked, answer: answer && { ...answer, isExpiry: true } };
}

const DEFAULT_QUIET_MS = 1_000;

/** Checks a request, and copies it. */
export function checkedRun(request: RunRequest, newId: () => string): CheckedRun {
  const sessionId = isBlank(request.sessionId) ? newId() : (request.sessionId as string);
  const { policy = 'reject', agentName = 'agent', quietMs = DEFAULT_QUIET_MS } = request;
  const invocationId = request.invocationId ?? newId();
  assertId(invocationId, 'invocationId');
  if (Buffer.byteLength(invocationId) > MAX_INVOCATION_BYTES) {
    throw new InvalidInputError(`must be at most ${MAX_INVOCATION_BYTES} UTF-8 bytes long`, 'invocationId');
  }
  assertId(agentName, 'agentName');
  if (isNameOfUser(agentName)) throw new InvalidInputError('must not be the name of the user', 'agentName');
  for (const [name, setting] of Object.entries(RUN_SETTINGS)) {
    const value = request[name as keyof typeof RUN_SETTINGS];
    if (value !== undefined) checkSetting(setting, value, name);
  }
  return {
    key: checkedSessionKey({ ...request, sessionId }),
    isNewSession: isBlank(request.sessionId),
    mayCreate: optionalFlag(request.create, 'create') ?? true,
    message: structuredClone(userContent(request.newMessage, request.customMetadata !== undefined)),
    policy,
    invocationId,
    mayBeRetry: request.invocationId !== undefined,
    retriesFailure: checkedRetry(request),
    agentName,
    output: outputRuleOf(request, agentName),
    stateDelta: checkedDelta(request.stateDelta),
    customMetadata: request.customMetadata && structuredClone(request.customMetadata),
    rewindTo: optionalCount(request.rewindTo, 'rewindTo'),
    state: request.state,
    config: request.config,
    quietMs,
  };
}

/** A text or a list would be copied key by key, and the access rule would not have seen the keys. */
function checkedDelta(stateDelta: unknown): Record<string, unknown> | undefined {
  if (stateDelta === undefined || stateDelta === null) return undefined;
  if (!isPlainObject(stateDelta)) throw new InvalidInputError('must be an object with values by key', 'stateDelta');
  return { ...stateDelta };
}

/** Refuses to rewind to an event that the session does not have, which would rewind nothing. */
export function assertPlaceIn({ version }: Pick<Session, 'version'>, rewindTo: number): void {
  if (rewindTo > version) throw new InvalidInputError(`must be at most ${version}, the last event`, 'rewindTo');
}

function checkedRetry({ retry, invocationId }: RunRequest): boolean {
  if (!optionalFlag(retry, 'retry')) return false;
  if (invocationId === undefined) throw new InvalidInputError('needs the invocationId of the run that failed', 'retry');
  return true;
}

function outputRuleOf({ outputKey, outputSchema, onMismatch }: RunRequest, author: string): OutputRule | undefined {
  if (outputKey !== undefined)
    return { author, outputKey, ...(outputSchema && { outputSchema }), ...(onMismatch && { onMismatch }) };
  if (outputSchema === undefined) return undefined;
  throw new InvalidInputError('needs an outputKey', 'outputSchema');
}

/** A request without what its message brings. */
export type KeptRequest = Omit<CheckedRun, 'message' | 'stateDelta' | 'customMetadata' | 'state'>;

/** Leaves out what a message brings, which may be large. */
export function withoutMessage(request: CheckedRun): KeptRequest {
  const { message: _message, stateDelta: _delta, customMetadata: _metadata, state: _state, ...kept } = request;
  return kept;
}

/** What the process keeps of a message that waits in the log. */
export function keptOf(request: CheckedRun): CheckedRun {
  const stateDelta = tempOf(request.stateDelta);
  return { ...withoutMessage(request), message: {}, stateDelta, customMetadata: undefined, state: undefined };
}
