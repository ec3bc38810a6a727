import type { Content, Part } from '../../domain/event/content.js';
import { allFields } from '../../domain/event/event-inspection.js';
import type { EventLike } from '../../domain/event/event.js';
import { STAMP_KEY } from './reserved-keys.js';
import { type Stamp, stampText } from './stamped-event.js';
import { type VertexEvent, timeText } from './wire.js';

/** Where and with which state an event goes to Vertex AI. */
export interface Sending {
  readonly stamp: Stamp;
  /** Its place in the order of the API. */
  readonly micros: number;
  /** What the commit changes in the state of the session. */
  readonly stateDelta: Readonly<Record<string, unknown>>;
  readonly withRawEvent: boolean;
}

/** The event for the API, with what other readers understand of it. */
export function sentEvent({ stamp, micros, stateDelta, withRawEvent }: Sending): VertexEvent {
  const event = JSON.parse(stamp.payload) as EventLike;
  const { actions = {}, content, customMetadata, longRunningToolIds, branch, turnComplete, interrupted } = event;
  return {
    author: event.author || 'system',
    // Both are required.
    invocationId: event.invocationId || stamp.id,
    timestamp: timeText(micros),
    content: content ? knownContent(content) : undefined,
    errorCode: event.errorCode,
    errorMessage: event.errorMessage,
    actions: {
      stateDelta,
      artifactDelta: actions.artifactDelta,
      skipSummarization: actions.skipSummarization,
      escalate: actions.escalate,
      transferAgent: actions.transferToAgent,
    },
    eventMetadata: {
      turnComplete,
      interrupted,
      branch,
      longRunningToolIds,
      customMetadata: { ...customMetadata, [STAMP_KEY]: stampText(stamp) },
    },
    ...(withRawEvent && { rawEvent: allFields(event) }),
  };
}

const PARTS = ['text', 'thought', 'inlineData', 'fileData', 'executableCode', 'codeExecutionResult'] as const;

/** The parts that the API knows. It refuses an event with others, which are in the stamp and in the raw event. */
function knownContent({ role, parts }: Content): object {
  return {
    role: role === 'model' ? 'model' : 'user',
    parts: (parts ?? []).map(knownPart).filter((part) => Object.keys(part).length > 0),
  };
}

function knownPart(part: Part): object {
  const { functionCall: call, functionResponse: answer } = part;
  const known = Object.fromEntries(PARTS.flatMap((name) => (part[name] === undefined ? [] : [[name, part[name]]])));
  if (call) return { ...known, functionCall: { id: call.id, name: call.name, args: struct(call.args) } };
  if (answer)
    return { ...known, functionResponse: { id: answer.id, name: answer.name, response: struct(answer.response) } };
  return known;
}

/** Arguments and answers are objects there. */
function struct(value: unknown): object | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'object' && !Array.isArray(value) ? value : { result: value };
}
