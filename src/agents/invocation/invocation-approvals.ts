import { isDeepStrictEqual } from 'node:util';
import { EventConflictError, InvalidInputError } from '../../sessions/domain/errors/errors.js';
import { isByUser } from '../../sessions/domain/event/event-inspection.js';
import type { FunctionCall } from '../../sessions/domain/event/content.js';
import type { EventInput } from '../../sessions/domain/event/event.js';
import { assertWholeNumber } from '../../sessions/domain/values/input-checks.js';
import { jsonCopyOf } from '../../sessions/domain/values/json-value.js';
import type { NumberedCall, Speaker } from '../../sessions/domain/event/open-calls.js';
import { jsonSchemaOf } from '../../state/standard-schema.js';
import { ApprovalChangedError } from '../errors/approval-errors.js';
import { type RequestPlace, formatApprovalAnswerId, approvalIdOf } from './approval-ids.js';
import { answersIn, checkedAnswer, refusalEvent } from './approval-answers.js';
import {
  type ApprovalAnswer,
  type ApprovalMark,
  type ApprovalRequest,
  type ApprovalResult,
  type AskedApproval,
  type Question,
  approvalMarksIn,
  isExpired,
  questionsIn,
  withoutApprovals,
} from './approval-requests.js';
import type { InvocationEnd } from './invocation-end.js';
import { ApprovalPending } from './tool-context.js';
import type { TurnLog } from '../turn/turn-log.js';

/** An answer that is not stored yet. */
export interface GivenApproval {
  readonly approvalId: string;
  readonly answer: unknown;
  /** Stores it, and takes the mark away. */
  readonly event: EventInput;
}

/** The invocation whose approvals these are. */
interface AskingInvocation {
  readonly invocationId: string;
  /** What it stored before. */
  readonly earlier: readonly EventInput[];
  /** The answer with which it goes on. It is stored when the handler asks for it, and its schema accepts it. */
  readonly given?: GivenApproval | undefined;
}

/** Who asks, and where in the invocation. */
export interface Asker {
  /** The agent, if it is not the one of the run. */
  readonly speaker?: Speaker | undefined;
  /** The call for which a tool asks. */
  readonly call?: FunctionCall | undefined;
  /** The same, as the log has it. */
  readonly found?: NumberedCall | undefined;
  /** The number of the request among those of the call. Default: the next one. */
  readonly number?: number | undefined;
}

/** The approvals of an invocation: answered, pending, and asked for now. */
export class InvocationApprovals {
  readonly #answers = new Map<string, ApprovalAnswer>();
  readonly #asked = new Map<string, AskedApproval>();
  /** What was asked under each id, earlier and in this run of the handler. */
  readonly #questions = new Map<string, Question>();
  /** How often was asked for each call, and by the handler itself, without a number. */
  readonly #requests = new Map<string, number>();
  #storing: Promise<void> = Promise.resolve();
  readonly #invocationId: string;
  #refusal: InvalidInputError | undefined;
  #given: GivenApproval | undefined;

  constructor(
    { invocationId, earlier, given }: AskingInvocation,
    private readonly log: Pick<TurnLog, 'session' | 'env' | 'report' | 'append' | 'news' | 'signal'>,
    /** What the invocation would leave behind. */
    private readonly end: InvocationEnd,
  ) {
    this.#invocationId = invocationId;
    this.#given = given;
    for (const event of earlier) this.add(event);
  }

  /** The event with an answer that the handler has not asked for yet. */
  get unread(): EventInput | undefined {
    return this.#refusal ? undefined : this.#given?.event;
  }

  /** Why the answer was refused. Then it must not be stored, and the approval stays pending. */
  get refusal(): InvalidInputError | undefined {
    return this.#refusal;
  }

  /** The handler may not ask for the answer that it was given. It is answered all the same. */
  async storeUnread(): Promise<void> {
    if (this.#given && !this.#refusal) await this.#storeOnce(this.#given.approvalId, this.#given.event);
  }

  /** Learns from an event of the invocation. */
  add(event: EventInput): void {
    // A message of the user asks for no approvals, whatever it holds.
    for (const [approvalId, question] of isByUser(event) ? [] : questionsIn(event)) {
      this.#questions.set(approvalId, { ...question, schema: this.#questions.get(approvalId)?.schema });
    }
    for (const [approvalId, answer] of answersIn(event)) {
      // Tools and messages of users may hold what looks like an answer.
      if (event.id !== formatApprovalAnswerId(approvalId)) continue;
      this.#answers.set(approvalId, answer);
      if (this.#given?.approvalId === approvalId) this.#given = undefined;
    }
  }

  /** Requests that are not in the log yet. */
  get asked(): readonly AskedApproval[] {
    return [...this.#asked.values()];
  }

  /** The handler has ended in spite of what it asked. */
  noteUnasked(): void {
    if (this.#asked.size > 0) this.log.report(new UnaskedApprovalWarning(this.asked));
  }

  /** The answer; throws `ApprovalPending` if there is none, and `ApprovalChangedError` if the id was used for something else. */
  async request<Payload>(request: ApprovalRequest<Payload>, asker: Asker): Promise<ApprovalResult<Payload>> {
    const approvalId = approvalIdOf(this.#placeOf(request, asker), this.#invocationId);
    const question = this.#checked(approvalId, questionOf(request));
    const answer = this.#answers.get(approvalId);
    if (answer) return checkedAnswer(answer, request.schema);
    if (this.#given?.approvalId === approvalId) return this.#accepted(this.#given, request.schema);
    const mark = this.#markOf(approvalId);
    if (mark) return this.#refusedIfExpired(approvalId, mark, request.schema);
    const { speaker, found, call } = asker;
    const asked = { ...question, expiresAt: expiresAt(request, this.log.env.clock.now()) };
    this.#asked.set(approvalId, { approvalId, question: asked, speaker: found ?? speaker, call: found?.call ?? call });
    throw new ApprovalPending();
  }

  /** Says that somebody can answer. What was asked before the invocation failed has none. */
  #markOf(approvalId: string): ApprovalMark | undefined {
    const { session } = this.log;
    return approvalMarksIn(session.id, session.metadata).get(approvalId);
  }

  async #refusedIfExpired<Payload>(
    approvalId: string,
    mark: ApprovalMark,
    schema: ApprovalRequest<Payload>['schema'],
  ): Promise<ApprovalResult<Payload>> {
    if (!isExpired(mark, this.log.env.clock.now())) throw new ApprovalPending();
    await this.#storeOnce(approvalId, refusalEvent(approvalId, 'expired', mark));
    // Somebody has stopped the invocation.
    if (!this.#answers.has(approvalId)) throw new ApprovalPending();
    return checkedAnswer(this.#answers.get(approvalId), schema);
  }

  /** One after the other: the last answer also takes the label of the session away. */
  async #storeOnce(approvalId: string, answer: EventInput): Promise<void> {
    this.#storing = this.#storing
      .catch(() => undefined)
      .then(async () => {
        if (!this.#answers.has(approvalId)) await this.#store(answer);
      });
    await this.#storing;
  }

  async #store(answer: EventInput): Promise<void> {
    const { log } = this;
    try {
      const marked = withoutApprovals([answer], log.session, (id) => formatApprovalAnswerId(id) === answer.id);
      for (const event of await log.append(marked, { withState: false })) {
        this.end.add(event);
        this.add(event);
      }
    } catch (error) {
      if (!(error instanceof EventConflictError)) throw error;
      // Who stopped the invocation while it waited was faster.
      this.#given = undefined;
      log.news.stop('stopped');
      log.signal.throwIfAborted();
    }
  }

  async #accepted<Payload>(
    { approvalId, answer, event }: GivenApproval,
    schema: ApprovalRequest<Payload>['schema'],
  ): Promise<ApprovalResult<Payload>> {
    let checked: ApprovalResult<Payload>;
    try {
      checked = await checkedAnswer(answer, schema);
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      // The caller gets the refusal; for the handler, the approval is still pending.
      this.#refusal = error;
      throw new ApprovalPending();
    }
    await this.#storeOnce(approvalId, event);
    return checked;
  }

  /** The handler runs again from the top after an answer: what it asks in the same order is the same. */
  #placeOf({ id }: ApprovalRequest, { speaker, call, found, number }: Asker): RequestPlace {
    if (id !== undefined) return { id };
    if (call && !found) throw new InvalidInputError('is missing, and there is no such open call', 'approval.id');
    const place = (request: number): RequestPlace => (found ? { call: found, request } : { speaker, request });
    if (found && number !== undefined) return place(number);
    const first = approvalIdOf(place(1), this.#invocationId);
    const request = (this.#requests.get(first) ?? 0) + 1;
    this.#requests.set(first, request);
    return place(request);
  }

  /** An answer counts for the question that was shown, and for no other one. */
  #checked(approvalId: string, question: Question): Question {
    const before = this.#questions.get(approvalId);
    const difference = before && differenceOf(before, question);
    if (difference) throw new ApprovalChangedError(approvalId, difference);
    this.#questions.set(approvalId, { ...before, ...question });
    return question;
  }
}

/** What the author of a handler reads. */
class UnaskedApprovalWarning extends Error {
  constructor(asked: readonly AskedApproval[]) {
    super(
      `An agent asked for approvals, caught ApprovalPending, and ended, so nobody is asked: ${asked.map(inWords).join(', ')}. ` +
        'Throw it again: if (error instanceof ApprovalPending) throw error.',
    );
    this.name = 'UnaskedApprovalWarning';
  }
}

function inWords({ approvalId, question: { hint } }: AskedApproval): string {
  return JSON.stringify(hint ?? approvalId);
}

/** A copy, as the log will have it. The rules for events check its size. */
function questionOf<Payload>({ hint, payload, schema }: ApprovalRequest<Payload>): Question {
  const shown = payload === undefined ? undefined : jsonCopyOf(payload, 'approval.payload', NO_LIMITS);
  return { hint, payload: shown, schema: schema && jsonSchemaOf(schema) };
}

/** The longest time that dates of JavaScript can add to one of today: 8,000 years and more. */
const MAX_EXPIRY_MS = 1e14;

function expiresAt({ expiresInMs }: Pick<ApprovalRequest, 'expiresInMs'>, now: number): number | undefined {
  if (expiresInMs === undefined) return undefined;
  assertWholeNumber(expiresInMs, { path: 'approval.expiresInMs', from: 1, to: MAX_EXPIRY_MS });
  return now + expiresInMs;
}

const NO_LIMITS = { maxDepth: Infinity, maxBytes: Infinity };

/** Schemas without a JSON Schema, and those of earlier runs, cannot be compared. */
function differenceOf(before: Question, now: Question): 'hint' | 'payload' | 'schema' | undefined {
  if (before.hint !== now.hint) return 'hint';
  if (!isDeepStrictEqual(before.payload, now.payload)) return 'payload';
  const canCompare = before.schema !== undefined && now.schema !== undefined;
  return canCompare && !isDeepStrictEqual(before.schema, now.schema) ? 'schema' : undefined;
}
