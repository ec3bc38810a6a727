import type { Content, FunctionCall } from '../sessions/domain/event.js';
import type { EventInput, LoggedEvent } from '../sessions/domain/event.js';
import type { Session } from '../sessions/domain/session.js';
import type { State } from '../state/state.js';
import { type ApprovalAnswer, type ApprovalRequest, isApprovalEvent } from './approvals.js';
import { isControlEvent } from './control-events.js';
import { type Tool, ToolContext } from './tool-context.js';

/** The running invocation, as its context sees it. */
export interface InvocationView {
  readonly session: Session;
  readonly invocationId: string;
  readonly agentName: string;
  readonly messages: readonly Content[];
  readonly isResumed: boolean;
  readonly signal: AbortSignal;
  readonly openCalls: readonly FunctionCall[];
  takeMessages(): Promise<readonly Content[]>;
  /** What tools have done is stored even if the invocation ends before the handler yields it. */
  keepDone(done: () => readonly EventInput[]): void;
  requestApproval<Payload>(request: ApprovalRequest<Payload>, call?: FunctionCall): Promise<ApprovalAnswer<Payload>>;
}

/**
 * What a handler works with.
 *
 * @example
 * async function* answer(context: AgentContext): AsyncGenerator<EventInput> {
 *   context.state.lastTopic = topicOf(context.message);
 *   const text = await model.ask(context.history, { signal: context.signal });
 *   yield { content: { role: 'model', parts: [{ text }] } };
 * }
 */
export class AgentContext {
  constructor(private readonly invocation: InvocationView) {}

  /** The session, including the message. Events that are yielded are added to it. */
  get session(): Session {
    return this.invocation.session;
  }

  /**
   * The state of the invocation, for all agents of it. Changes are stored with the next event that is yielded. Keys with
   * `temp:` last for the invocation and are never stored.
   */
  get state(): State {
    return this.invocation.session.state;
  }

  get invocationId(): string {
    return this.invocation.invocationId;
  }

  /** The author of events that name none. */
  get agentName(): string {
    return this.invocation.agentName;
  }

  /** The message to answer: the last one, if several came together. */
  get message(): Content {
    return this.invocation.messages.at(-1) ?? {};
  }

  /** All messages that began the invocation, and those that joined it. */
  get messages(): readonly Content[] {
    return this.invocation.messages;
  }

  /** The conversation: the view of the session, without approvals and without events that only control turns. */
  get history(): readonly LoggedEvent[] {
    return this.session.events.filter((event) => !isControlEvent(event) && !isApprovalEvent(event));
  }

  /** Whether the invocation began before: a process died in it and the request was repeated, or an approval was answered. */
  get isResumed(): boolean {
    return this.invocation.isResumed;
  }

  /** Aborts when the run is stopped or interrupted, and when its turn is lost. Pass it to models and tools. */
  get signal(): AbortSignal {
    return this.invocation.signal;
  }

  /** The tool calls of this invocation that have no response yet. */
  get openCalls(): readonly FunctionCall[] {
    return this.invocation.openCalls;
  }

  /**
   * Takes the messages that came with the policy `merge` since the last call. They are stored as messages of the user. Call it
   * between steps, when each tool call has its response. What is not taken runs afterwards.
   *
   * @example for (const message of await context.takeMessages()) prompt.add(message);
   */
  async takeMessages(): Promise<readonly Content[]> {
    return this.invocation.takeMessages();
  }

  /**
   * The context of a tool call.
   *
   * @example
   * for (const call of getFunctionCalls(event)) {
   *   const tool = context.tool(call);
   *   yield tool.respond(await refund(call.args, tool));
   * }
   */
  tool(call: FunctionCall): ToolContext {
    return new ToolContext(this, call);
  }

  /**
   * Runs the tools of all open calls side by side. Returns one event with all responses, for `yield`. If a tool fails, or the
   * run is stopped, the responses of those that are done are stored all the same.
   *
   * @example
   * while (context.openCalls.length > 0) {
   *   yield await context.callTools({ weather: async ({ city }) => forecast(city) });
   *   yield await model.ask(context.history);
   * }
   */
  async callTools(tools: Readonly<Record<string, Tool>>): Promise<EventInput> {
    return ToolContext.runAll(this, this.openCalls, tools, (done) => this.invocation.keepDone(done));
  }

  /**
   * Asks the user. Returns the answer if there is one; otherwise the turn ends here, and the handler is called again when the
   * approval is answered, maybe hours later and in another process.
   *
   * @example const { confirmed } = await context.requestApproval({ id: 'order', hint: 'Order 3 chairs?' });
   */
  async requestApproval<Payload = unknown>(
    request: ApprovalRequest<Payload>,
    call?: FunctionCall,
  ): Promise<ApprovalAnswer<Payload>> {
    return this.invocation.requestApproval(request, call);
  }
}
