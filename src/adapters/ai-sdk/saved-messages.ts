import type { UIMessage } from 'ai';
import { defined, RESERVED } from '../../adapter.js';
import { type EventInput, InvalidInputError } from '../../index.js';
import { assertMessageId, newMessageRun } from './chat-request.js';
import { type UIPart, sdkMetadata } from './sdk-fields.js';
import { type AskedApproval, approvalsEvent, isToolPart, modelEvent, resultsEvent, toolNameOf } from './step-events.js';
import type { ToolOutcome } from './tool-outcome.js';

/** The events of a complete message. Their ids follow from the message, so that each is stored once. */
export function savedEvents(message: UIMessage, agentName: string): EventInput[] {
  assertMessageId(message.id);
  if (message.role === 'user') {
    const { invocationId, newMessage, customMetadata } = newMessageRun(message);
    const event = { id: RESERVED.ids.message + invocationId, invocationId, author: 'user', content: newMessage };
    return [{ ...event, ...defined({ customMetadata }) }];
  }
  if (message.role === 'system') throw new InvalidInputError('must be user or assistant', 'message.role');
  const { id } = message;
  const steps = splitIntoSteps(message.parts);
  const saved = steps.flatMap((parts, index) => stepEvents(parts, id, `${id}/${index}`));
  const about = message.metadata === undefined ? [] : [aboutEvent(message)];
  return [...saved, ...about].map((event) => ({ ...event, invocationId: id, author: agentName }));
}

function aboutEvent({ id, metadata }: UIMessage): EventInput {
  return { id: `${id}/metadata`, customMetadata: sdkMetadata({ message: id, metadata }) };
}

function splitIntoSteps(parts: readonly UIPart[]): UIPart[][] {
  const steps: UIPart[][] = [[]];
  for (const part of parts) {
    if (part.type === 'step-start') steps.push([]);
    else steps.at(-1)?.push(part);
  }
  return steps.filter((step) => step.length > 0);
}

function stepEvents(parts: readonly UIPart[], message: string, id: string): EventInput[] {
  const tools = parts.filter(isToolPart).filter(({ state }) => state !== 'input-streaming');
  const said = parts.filter((part) => !isToolPart(part) || part.state !== 'input-streaming');
  // Whether a call was answered may change until the message is saved again.
  const calls = tools.map(({ toolCallId }) => toolCallId);
  const model = { ...modelEvent(said, { message, step: true }, calls), id };
  const asked = tools.flatMap((part): AskedApproval[] => {
    if (!part.approval) return [];
    const { id: approvalId, signature, descriptor, inputSchemaInput } = part.approval;
    const details = defined({ signature, descriptor, inputSchemaInput });
    return [{ approvalId, toolCallId: part.toolCallId, toolName: toolNameOf(part), input: part.input, ...details }];
  });
  const results = tools.flatMap((part) => {
    const outcome = outcomeIn(part);
    return outcome ? [{ ...resultsEvent([outcome], { message }), id: `${id}/result/${part.toolCallId}` }] : [];
  });
  const requests = asked.map((each) => ({
    ...approvalsEvent([each], { message }),
    id: `${id}/approval/${each.approvalId}`,
  }));
  return [model, ...requests, ...results];
}

function outcomeIn(part: UIPart & { toolCallId: string }): ToolOutcome | undefined {
  if (!isToolPart(part)) return undefined;
  const call = { toolCallId: part.toolCallId, toolName: toolNameOf(part) };
  switch (part.state) {
    case 'output-available':
      return {
        ...call,
        result: { type: 'output', output: part.output },
        providerMetadata: part.resultProviderMetadata,
      };
    case 'output-error':
      return {
        ...call,
        result: { type: 'error', errorText: part.errorText },
        providerMetadata: part.resultProviderMetadata,
      };
    case 'output-denied':
      return { ...call, result: { type: 'denied' } };
    default:
      return undefined;
  }
}
