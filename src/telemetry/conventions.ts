/**
 * The version of the GenAI conventions that the names below are of:
 * https://github.com/open-telemetry/semantic-conventions-genai. All of them are still in development.
 */
export const CONVENTIONS_VERSION = '0.1.0';

/** Attributes of the conventions. Version 1.36 of the time before they had a repository of their own has the same. */
export const ATTRIBUTES = {
  conversationId: 'gen_ai.conversation.id',
  operationName: 'gen_ai.operation.name',
  agentName: 'gen_ai.agent.name',
  errorType: 'error.type',
  userId: 'user.id',
} as const;

/** Values of `gen_ai.operation.name`. */
export const OPERATION_NAMES = { invokeAgent: 'invoke_agent' } as const;

/** What only {@link CONVENTIONS_VERSION} has. Apps ask for it by {@link LATEST_CONVENTIONS}. */
export const LATEST_METRICS = { agentDuration: 'gen_ai.invoke_agent.duration' } as const;

/** Stands in the variable `OTEL_SEMCONV_STABILITY_OPT_IN`, whose values are separated by commas. */
export const LATEST_CONVENTIONS = 'gen_ai_latest_experimental';

/** What the conventions have no name for. */
export const OWN_ATTRIBUTES = {
  operation: 'agent_sessions.operation',
  appName: 'agent_sessions.app.name',
  invocationId: 'agent_sessions.invocation.id',
  sourceId: 'agent_sessions.source.id',
  storedEvents: 'agent_sessions.stored_events',
} as const;

/** The same, of metrics. */
export const OWN_METRICS = {
  duration: 'agent_sessions.operation.duration',
  storedEvents: 'agent_sessions.events.stored',
} as const;
