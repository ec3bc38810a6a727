import { FunctionTool, LlmAgent, LogLevel, Runner, setLogLevel } from '@google/adk';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { isToolUIPart, tool } from 'ai';
import { z } from 'zod';
import { AdkSessionService } from '../../../src/adapters/adk/index.js';
import { SessionChatHistory } from '../../../src/adapters/langgraph/index.js';
import { AgentsSession } from '../../../src/adapters/openai-agents/index.js';
import { toMessages } from '../../../src/agents/index.js';
import type { SessionStorage } from '../../../src/storage.js';
import { storesAboveThePort } from '../../support/stores.js';
import { collected } from '../adk/support/collected.js';
import { ScriptedLlm, calls, message, says } from '../adk/support/scripted-llm.js';
import { ChatApp, KEY, handlerOf, user } from '../ai-sdk/support/chat-app.js';
import { model, step, text } from '../ai-sdk/support/models.js';

setLogLevel(LogLevel.ERROR);

const ORDER = { id: 7, status: 'sent' };
const find = new FunctionTool({
  name: 'find',
  description: 'Finds an order.',
  parameters: z.object({ id: z.number() }),
  execute: () => ORDER,
});
const tools = { find: tool({ inputSchema: z.object({ id: z.number() }), execute: async () => ORDER }) };

/** The prompt of ADK, which puts what other agents said in its own words. */
const PROMPT = [
  'user: Where is order 7?',
  'model: It was sent.',
  'user: And when?',
  'user: For context:',
  'user: [assistant] said: Yesterday.',
  'user: By whom?',
  'user: For context:',
  'user: [agent] said: By bike.',
  'user: Thank you.',
];

describe.each(storesAboveThePort)('One conversation through several frameworks in $name', ({ open }) => {
  it('goes on from ADK to the AI SDK, to LangChain and back, with its tools and state', async () => {
    const { storage, destroy } = await open({});
    try {
      await converse(storage);
    } finally {
      await destroy();
    }
  });
});

async function converse(storage: SessionStorage): Promise<void> {
  const app = new ChatApp(storage, tools);
  const { sessions } = app;

  // ADK: a call of a tool, and an output key.
  const adk = new AdkSessionService({ sessions });
  const { appName, userId, sessionId } = KEY;
  await adk.createSession({ appName, userId, sessionId, state: { 'user:name': 'Ann' } });
  await runAdk(adk, new ScriptedLlm(calls('find', { id: 7 }, 'c1'), says('It was sent.')), 'Where is order 7?');

  // The AI SDK: the page shows the tool, and the model knows the conversation.
  const [asked, answered] = await app.load();
  expect(asked).toMatchObject({ role: 'user', parts: [{ type: 'text', text: 'Where is order 7?' }] });
  expect(answered?.parts.filter(isToolUIPart)).toEqual([
    expect.objectContaining({ type: 'tool-find', toolCallId: 'c1', state: 'output-available', output: ORDER }),
  ]);
  const sdk = model(step(...text('Yesterday.')));
  const answer = await app.ask({ messages: [user('m-2', 'And when?')] }, handlerOf(sdk, tools));
  await answer.result;
  const prompt = JSON.stringify(sdk.doStreamCalls.map((each) => each.prompt));
  for (const known of ['Where is order 7?', 'c1', '"status":"sent"', 'It was sent.']) expect(prompt).toContain(known);

  // LangChain: messages in, messages out.
  const history = new SessionChatHistory({ sessions, ...KEY });
  const messages = await history.getMessages();
  expect(messages.filter((each) => AIMessage.isInstance(each)).flatMap((each) => each.tool_calls ?? [])).toEqual([
    expect.objectContaining({ id: 'c1', name: 'find', args: { id: 7 } }),
  ]);
  await history.addMessages([new HumanMessage('By whom?'), new AIMessage('By bike.')]);

  // OpenAI Agents reads all of it.
  const items = await new AgentsSession({ sessions, ...KEY }).getItems();
  expect(items.map((item) => item.type ?? 'message').filter((type) => type !== 'message')).toEqual([
    'function_call',
    'function_call_result',
  ]);

  // Back in ADK: the model gets everything in order, and the state in its instruction.
  const last = new ScriptedLlm(says('You are welcome.'));
  await runAdk(adk, last, 'Thank you.');
  expect(last.lastTexts).toEqual(PROMPT);
  expect(last.instructions).toEqual([expect.stringContaining('Ann was told: It was sent.')]);

  const session = await sessions.getSession(KEY);
  expect(session?.state).toMatchObject({ answer: 'You are welcome.', 'user:name': 'Ann' });
  const roles = toMessages(session?.events ?? [], { format: 'openai' }).map(({ role }) => role);
  expect(roles.filter((role) => role === 'tool')).toHaveLength(1);
  const numbers = (await sessions.listEvents(KEY)).events.map(({ seq }) => seq);
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  await app.close();
}

async function runAdk(adk: AdkSessionService, llm: ScriptedLlm, question: string): Promise<void> {
  const instruction = '{user:name} was told: {answer?}';
  const agent = new LlmAgent({ name: 'support', model: llm, instruction, tools: [find], outputKey: 'answer' });
  const runner = new Runner({ appName: KEY.appName, agent, sessionService: adk });
  const { userId, sessionId } = KEY;
  await collected(runner.runAsync({ userId, sessionId, newMessage: message(question) }));
}
