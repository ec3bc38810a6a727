import {
  type Attributes,
  type Link,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  context,
  trace,
} from '@opentelemetry/api';
import { BoundedMap } from '../sessions/domain/process/bounded-map.js';
import { isId } from '../sessions/domain/values/ids.js';
import { TRACED_OPERATIONS, type TracedOperation, channelOf } from '../sessions/tracing/operation-channels.js';
import { ATTRIBUTES, OPERATION_NAMES, OWN_ATTRIBUTES } from './conventions.js';

/** Sessions whose last span is kept, so that a fork can be linked to it. */
const KEPT_SESSIONS = 1_000;

/** What spans say. */
export interface SpanOptions {
  readonly tracer: Tracer;
  /** Whether they have the id of the user. */
  readonly userIds: boolean;
}

/** A span for each operation, from its beginning to its end. What happens in between belongs to it. */
export class OperationSpans {
  readonly #spans = new WeakMap<object, Span>();
  readonly #ended = new WeakSet<Span>();
  readonly #lastSpans = new BoundedMap<SpanContext>(KEPT_SESSIONS);

  constructor(private readonly options: SpanOptions) {}

  start(): void {
    for (const name of TRACED_OPERATIONS) {
      channelOf(name).start.subscribe(this.#begin);
      channelOf(name).asyncEnd.subscribe(this.#end);
    }
  }

  stop(): void {
    for (const name of TRACED_OPERATIONS) {
      channelOf(name).start.unsubscribe(this.#begin);
      channelOf(name).asyncEnd.unsubscribe(this.#end);
    }
  }

  readonly #begin = (message: unknown): void => {
    const operation = message as TracedOperation;
    const { around = (work) => work() } = operation;
    const active = context.active();
    const parent = trace.getSpan(active);
    // Work in the background, such as a summary, may begin when what caused it is over. It is a trace of its own.
    const isLate = parent !== undefined && this.#ended.has(parent);
    const links = [...(isLate ? [{ context: parent.spanContext() }] : []), ...this.#linksOf(operation)];
    const attributes = this.#attributesOf(operation);
    const span = this.options.tracer.startSpan(
      spanName(operation),
      { kind: SpanKind.INTERNAL, attributes, links, root: isLate },
      active,
    );
    this.#spans.set(operation, span);
    const within = trace.setSpan(active, span);
    // OpenTelemetry keeps its own storage to itself, so that a channel cannot be bound to it.
    operation.around = (work) => context.with(within, () => around(work));
  };

  readonly #end = (message: unknown): void => {
    const operation = message as TracedOperation;
    const span = this.#spans.get(operation);
    if (!span) return;
    const { sessionId, storedEvents, errorCode } = operation;
    if (isId(sessionId)) {
      span.setAttribute(ATTRIBUTES.conversationId, sessionId);
      if (errorCode === undefined) this.#lastSpans.set(formatSpanKey(operation, sessionId), span.spanContext());
    }
    if (storedEvents !== undefined) span.setAttribute(OWN_ATTRIBUTES.storedEvents, storedEvents);
    if (errorCode !== undefined) {
      span.setAttribute(ATTRIBUTES.errorType, errorCode);
      // Without the message: that of an error of the app may quote the conversation.
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end();
    this.#ended.add(span);
  };

  /** To the last span of the session that is copied, if it was of this process and did not fail. */
  #linksOf(operation: TracedOperation): Link[] {
    const { sourceSessionId } = operation;
    const source = sourceSessionId && this.#lastSpans.get(formatSpanKey(operation, sourceSessionId));
    return source ? [{ context: source, attributes: { [ATTRIBUTES.conversationId]: sourceSessionId } }] : [];
  }

  /** What was asked for is not checked yet: what is no id may be a text of any length. */
  #attributesOf({ operation, appName, userId, sessionId, ...of }: TracedOperation): Attributes {
    const isRun = operation === 'run';
    return {
      [OWN_ATTRIBUTES.operation]: operation,
      [OWN_ATTRIBUTES.appName]: validId(appName),
      [OWN_ATTRIBUTES.invocationId]: of.invocationId,
      [OWN_ATTRIBUTES.sourceId]: validId(of.sourceSessionId),
      [ATTRIBUTES.conversationId]: validId(sessionId),
      [ATTRIBUTES.agentName]: of.agentName,
      [ATTRIBUTES.operationName]: isRun ? OPERATION_NAMES.invokeAgent : undefined,
      [ATTRIBUTES.userId]: this.options.userIds ? validId(userId) : undefined,
    };
  }
}

function validId(value: unknown): string | undefined {
  return isId(value) ? value : undefined;
}

function spanName({ operation, agentName = '' }: TracedOperation): string {
  return operation === 'run' ? `${OPERATION_NAMES.invokeAgent} ${agentName}`.trim() : `agent_sessions.${operation}`;
}

function formatSpanKey({ appName, userId }: TracedOperation, sessionId: string): string {
  return JSON.stringify([appName, userId, sessionId]);
}
