import { InvalidInputError } from '../sessions/domain/errors.js';
import { getFunctionCalls, isByUser } from '../sessions/domain/event-inspection.js';
import type { EventInput, FunctionCall } from '../sessions/domain/event.js';
import type { StandardSchema } from '../state/standard-schema.js';
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type AskedApproval,
  answerIdOf,
  answersIn,
  approvalIdOf,
  approvalsAskedIn,
} from './approvals.js';
import { ApprovalPending } from './tool-context.js';

/** An answer that is not stored yet. */
export interface GivenApproval {
  readonly approvalId: string;
  readonly answer: unknown;
  /** Stores it, and takes the mark away. */
  readonly event: EventInput;
}

/** The approvals of an invocation: answered, pending, and asked for now. */
export class InvocationApprovals {
  readonly #answers = new Map<string, ApprovalAnswer>();
  readonly #pending = new Set<string>();
  readonly #asked = new Map<string, AskedApproval>();
  /** How often a call with this id was made: some models count calls again in each step. */
  readonly #calls = new Map<string, number>();
  #unnamed = 0;
  #refusal: InvalidInputError | undefined;
  #given: GivenApproval | undefined;

  /**
   * @param store stores the event with an answer
   * @param given the answer with which the invocation goes on. It is stored when the handler asks for it, and its schema
   *   accepts it
   */
  constructor(
    private readonly invocationId: string,
    private readonly store: (answer: EventInput) => Promise<void>,
    given: GivenApproval | undefined,
  ) {
    this.#given = given;
  }

  /** The event with an answer that the handler has not asked for yet. */
  get unread(): EventInput | undefined {
    return this.#refusal ? undefined : this.#given?.event;
  }

  /** Why the answer was refused. Then it must not be stored, and the approval stays pending. */
  get refusal(): InvalidInputError | undefined {
    return this.#refusal;
  }

  /** Learns from an event of the invocation. */
  add(event: EventInput): void {
    // A message of the user neither asks for approvals nor calls tools, whatever it holds.
    if (!isByUser(event)) {
      for (const approvalId of approvalsAskedIn(event)) this.#pending.add(approvalId);
      for (const { id } of getFunctionCalls(event)) if (id) this.#calls.set(id, (this.#calls.get(id) ?? 0) + 1);
    }
    for (const [approvalId, answer] of answersIn(event)) {
      // Tools and messages of users may hold what looks like an answer.
      if (event.id !== answerIdOf(approvalId)) continue;
      this.#answers.set(approvalId, answer);
      if (this.#given?.approvalId === approvalId) this.#given = undefined;
    }
  }

  /** Requests that are not in the log yet. */
  get asked(): readonly AskedApproval[] {
    return [...this.#asked.values()];
  }

  /**
   * The answer; throws `ApprovalPending` if there is none.
   *
   * @param callNumber the place of the call in the invocation
   */
  async request<Payload>(
    request: ApprovalRequest<Payload>,
    call?: FunctionCall,
    callNumber?: number,
  ): Promise<ApprovalAnswer<Payload>> {
    const id = request.id ?? this.#defaultId(call, callNumber);
    const approvalId = approvalIdOf(id, this.invocationId);
    const answer = this.#answers.get(approvalId);
    if (answer) return checkedAnswer(answer, request.schema);
    if (this.#given?.approvalId === approvalId) return this.#accepted(this.#given, request.schema);
    if (!this.#pending.has(approvalId)) this.#asked.set(approvalId, { approvalId, request, call });
    throw new ApprovalPending();
  }

  async #accepted<Payload>(
    { answer, event }: GivenApproval,
    schema: ApprovalRequest<Payload>['schema'],
  ): Promise<ApprovalAnswer<Payload>> {
    let checked: ApprovalAnswer<Payload>;
    try {
      checked = await checkedAnswer(answer, schema);
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      // The caller gets the refusal; for the handler, the approval is still pending.
      this.#refusal = error;
      throw new ApprovalPending();
    }
    await this.store(event);
    return checked;
  }

  /** An answer to a call without id must not count for another call, also when tools that are done are not called again. */
  #defaultId(call: FunctionCall | undefined, callNumber: number | undefined): string {
    if (call?.id) return this.#idOfCall(call.id);
    if (!call) return String(++this.#unnamed);
    if (callNumber !== undefined) return `call-${callNumber}`;
    throw new InvalidInputError('is missing, and there is no such open call', 'approval.id');
  }

  /** An answer counts for one call, even if a later call has the same id. */
  #idOfCall(id: string): string {
    const count = this.#calls.get(id) ?? 1;
    return count === 1 ? id : `${id}#${count}`;
  }
}

/** Refuses an answer that does not fit the schema. A refusal needs no payload. */
export async function checkedAnswer<Payload>(
  answer: unknown,
  schema: StandardSchema<unknown, Payload> | undefined,
): Promise<ApprovalAnswer<Payload>> {
  const { confirmed, payload } = (answer ?? {}) as ApprovalAnswer;
  if (typeof confirmed !== 'boolean') throw new InvalidInputError('must be true or false', 'answer.confirmed');
  if (!confirmed || !schema) return answer as ApprovalAnswer<Payload>;
  const result = await schema['~standard'].validate(payload);
  if (!result.issues) return { confirmed, payload: result.value };
  const [issue] = result.issues;
  const path = (issue?.path ?? []).map((step) => `.${String(typeof step === 'object' ? step.key : step)}`).join('');
  throw new InvalidInputError(issue?.message ?? 'does not fit the schema', `answer.payload${path}`);
}
