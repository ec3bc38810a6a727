import type { Event as AdkEvent } from '@google/adk';
import type { Content as GeminiContent, Part as GeminiPart } from '@google/genai';
import { z } from 'zod';
import { type AgentContext, type RunHandler, toMessages } from '../../src/agents/index.js';
import {
  Event,
  EventActions,
  type EventInput,
  type EventLike,
  type LoggedEvent,
  type Session,
  type SessionService,
  allFields,
  defineState,
  getFunctionCalls,
  isFinalResponse,
} from '../../src/index.js';

const CALL = { functionCall: { name: 'find', args: {} } };
const OWN = { traceId: 't-1' };

async function append(sessions: SessionService, session: Session): Promise<void> {
  // @ts-expect-error content
  await sessions.appendEvent({ session, event: { author: 'a', contnet: { parts: [{ text: 'hi' }] } } });
  // @ts-expect-error stateDelta
  await sessions.appendEvents({ session, events: [{ author: 'a', actions: { statedelta: {} } }] });
}

function make(): object[] {
  return [
    // @ts-expect-error content
    new Event({ author: 'a', contnet: { parts: [{ text: 'hi' }] } }),
    // @ts-expect-error stateDelta
    new EventActions({ statedelta: {} }),
  ];
}

async function* answer(): AsyncGenerator<EventInput> {
  // @ts-expect-error content
  yield { author: 'a', contnet: { parts: [{ text: 'hi' }] } };
}

// @ts-expect-error content
const handler: RunHandler = async function* () {
  yield { contnet: { parts: [{ text: 'hi' }] } };
};

function read(event: LoggedEvent): unknown[] {
  return [
    // @ts-expect-error invocationId
    event.invocatonId,
    // @ts-expect-error stateDelta
    event.actions.statedelta,
    // @ts-expect-error parts
    event.content?.part,
    // @ts-expect-error text
    event.content?.parts?.[0]?.txt,
  ];
}

function written(
  logged: LoggedEvent,
  like: EventLike,
  adk: AdkEvent,
  content: GeminiContent,
  part: GeminiPart,
): unknown[] {
  const events: EventInput[] = [
    logged,
    like,
    adk,
    { author: 'a', content: logged.content },
    { author: 'a', content: { role: 'model', parts: logged.content?.parts ?? [] } },
    { author: 'a', content },
    { author: 'a', content: { role: 'model', parts: [part, { text: 'hi' }, CALL] } },
    { ...adk, branch: 'root' },
  ];
  return [toMessages(events, { format: 'google' }), getFunctionCalls(adk), isFinalResponse(like)];
}

// The type check of this file is the test: each comment says what should stand in the line below it, which the compiler must refuse.
describe('Types of events', () => {
  it('refuse fields that an event does not have', () => {
    const events: EventInput[] = [
      // @ts-expect-error content
      { author: 'a', contnet: { parts: [{ text: 'hi' }] } },
      // @ts-expect-error content
      { author: 'a', contents: { parts: [{ text: 'hi' }] } },
      // @ts-expect-error in actions
      { author: 'a', stateDelta: { step: 1 } },
      // @ts-expect-error in actions, and in camel case
      { author: 'a', state_delta: { step: 1 } },
      // @ts-expect-error invocationId
      { author: 'a', invocation_id: 'i-1' },
      // @ts-expect-error parts
      { author: 'a', content: { part: [{ text: 'hi' }] } },
      // @ts-expect-error parts
      { author: 'a', content: { role: 'user', content: 'hi' } },
      // @ts-expect-error stateDelta
      { author: 'a', actions: { statedelta: { step: 1 } } },
      // @ts-expect-error stateDelta
      { author: 'a', actions: { state_delta: { step: 1 } } },
      // @ts-expect-error only runs write it
      { author: 'a', actions: { awaitsApproval: true } },
      // @ts-expect-error promptTokenCount
      { author: 'a', usageMetadata: { promptTokens: 1 } },
    ];
    expect(events).toHaveLength(11);
  });

  it('refuse parts that are of no kind, or of two, and roles of other vendors', () => {
    const contents: EventInput['content'][] = [
      // @ts-expect-error text
      { parts: [{ txt: 'hi' }] },
      // @ts-expect-error one part for each
      { parts: [{ text: 'hi', functionCall: { name: 'find' } }] },
      // @ts-expect-error one part for each
      { parts: [{ functionCall: { name: 'find' }, functionResponse: { name: 'find', response: {} } }] },
      // @ts-expect-error a name
      { parts: [{ functionCall: { id: 'c-1', args: {} } }] },
      // @ts-expect-error a name
      { parts: [{ functionCall: {} }] },
      // @ts-expect-error args
      { parts: [{ functionCall: { name: 'find', arguments: {} } }] },
      // @ts-expect-error response
      { parts: [{ functionResponse: { name: 'find', result: 1 } }] },
      // @ts-expect-error mimeType
      { parts: [{ inlineData: { mime_type: 'image/png', data: 'AAAA' } }] },
      // @ts-expect-error thought
      { parts: [{ text: 'hm', thougt: true }] },
      // @ts-expect-error model
      { role: 'assistant', parts: [{ text: 'hi' }] },
    ];
    expect(contents).toHaveLength(10);
  });

  it('refuse the same where events are appended, made and yielded', () => {
    expect([append, make, answer, handler]).toHaveLength(4);
  });

  it('refuse to read what an event does not have', () => {
    expect(read).toHaveLength(1);
  });

  it('refuse keys of a state that its definition does not have', () => {
    const shop = defineState({ step: z.number() });
    const write = (context: AgentContext) => {
      // @ts-expect-error step
      shop.of(context).stepp = 'x';
      // @ts-expect-error a number
      shop.of(context).step = 'x';
      shop.of(context).step = 1;
    };
    expect(write).toHaveLength(1);
  });

  it('take what was read, and events of ADK and contents of Gemini as they are', () => {
    expect(written).toHaveLength(5);
  });

  it('keep fields of your own, which `allFields` reads', () => {
    const event = new Event({ author: 'a', customMetadata: OWN, ...OWN });
    expect(allFields(event)).toMatchObject({ author: 'a', traceId: 't-1', customMetadata: OWN });
  });
});
