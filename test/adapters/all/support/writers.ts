import { createEvent } from '@google/adk';
import { Role } from '@a2a-js/sdk';
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { stepCountIs, streamText, convertToModelMessages, tool } from 'ai';
import { z } from 'zod';
import { SessionTaskStore } from '../../../../src/adapters/a2a/index.js';
import { AdkSessionService } from '../../../../src/adapters/adk/index.js';
import { newContent } from '../../../../src/adapters/ag-ui/input-content.js';
import { ChatSessions } from '../../../../src/adapters/ai-sdk/index.js';
import { ClaudeSessionStore } from '../../../../src/adapters/claude-agent/index.js';
import { SessionChatHistory, SessionSaver } from '../../../../src/adapters/langgraph/index.js';
import { AgentsSession } from '../../../../src/adapters/openai-agents/index.js';
import { AgentSessions } from '../../../../src/agents/index.js';
import type { Part, SessionService } from '../../../../src/index.js';
import { callOf, message, taskOf, textPart } from '../../a2a/support/tasks.js';
import { call, model, step, text, thought } from '../../ai-sdk/support/models.js';
import { prompt } from '../../claude-agent/support/transcripts.js';
import {
  AGENT,
  ANSWER,
  FACTS,
  FAILED,
  FILE_NAME,
  type Fact,
  LINK,
  MODEL,
  OK,
  PDF,
  PNG,
  QUESTION,
  SIGNATURE,
  THOUGHT,
  TOKENS,
} from './facts.js';

/** All frameworks keep one conversation: the id fits the strictest of them. */
export const KEY = { appName: 'shop', userId: 'ann', sessionId: '6a9f6e26-3f4e-4c0e-9f6b-000000000001' };

/** Writes the conversation as a framework says it. */
export interface Writer {
  readonly name: string;
  /** What the framework has of it, to be lost. */
  readonly had: readonly Fact[];
  write(sessions: SessionService): Promise<unknown>;
}

const without = (...facts: readonly Fact[]): Fact[] => FACTS.filter((fact) => !facts.includes(fact));

const CONTENT = { promptTokenCount: TOKENS, candidatesTokenCount: 3, totalTokenCount: TOKENS + 3 };
const PARTS: Part[] = [
  { text: QUESTION },
  { inlineData: { mimeType: 'image/png', data: PNG } },
  { inlineData: { mimeType: 'application/pdf', data: PDF, displayName: FILE_NAME } },
  { fileData: { mimeType: 'image/png', fileUri: LINK } },
];
const CALLS: Part[] = [OK, FAILED].map(({ id, name, args }) => ({ functionCall: { id, name, args } }));
const RESULTS: Part[] = [
  { functionResponse: { id: OK.id, name: OK.name, response: OK.response } },
  { functionResponse: { id: FAILED.id, name: FAILED.name, response: { error: FAILED.error } } },
];
/** What the agent of ADK, or of the app, says after the question. */
const SAID = [
  {
    content: { role: 'model', parts: [{ text: THOUGHT, thought: true, thoughtSignature: SIGNATURE }, ...CALLS] },
    modelVersion: MODEL,
    usageMetadata: CONTENT,
  },
  { content: { role: 'user', parts: RESULTS } },
  { content: { role: 'model', parts: [{ text: ANSWER }] }, modelVersion: MODEL },
];

async function adk(sessions: SessionService): Promise<void> {
  const service = new AdkSessionService({ sessions });
  const session = await service.createSession(KEY);
  const events = [
    { author: 'user', content: { role: 'user', parts: PARTS } },
    ...SAID.map((each) => ({ author: AGENT, ...each })),
  ];
  for (const event of events)
    await service.appendEvent({ session, event: createEvent(event as Parameters<typeof createEvent>[0]) });
}

/** A run of an agent of the app, with a message of a client of AG-UI. */
async function agUi(sessions: SessionService): Promise<void> {
  const agents = new AgentSessions({ sessions });
  const newMessage = newContent(
    [
      {
        id: 'm1',
        role: 'user',
        content: [
          { type: 'text', text: QUESTION },
          { type: 'image', source: { type: 'data', value: PNG, mimeType: 'image/png' } },
          {
            type: 'document',
            source: { type: 'data', value: PDF, mimeType: 'application/pdf' },
            metadata: { filename: FILE_NAME },
          },
          { type: 'image', source: { type: 'url', value: LINK } },
        ],
      },
    ],
    () => 'tool',
  );
  await agents.run({ ...KEY, agentName: AGENT, newMessage }, async function* () {
    for (const event of SAID) yield event;
  }).result;
  await agents.close();
}

async function openAi(sessions: SessionService): Promise<void> {
  const session = new AgentsSession({ sessions, ...KEY, agent: AGENT });
  await session.addItems([
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: QUESTION },
        { type: 'input_image', image: `data:image/png;base64,${PNG}` },
        { type: 'input_file', file: `data:application/pdf;base64,${PDF}`, filename: FILE_NAME },
        { type: 'input_image', image: LINK },
      ],
    },
    { type: 'reasoning', content: [{ type: 'input_text', text: THOUGHT }] },
    ...[OK, FAILED].map(({ id, name, args }) => ({
      type: 'function_call' as const,
      callId: id,
      name,
      arguments: JSON.stringify(args),
      status: 'completed' as const,
    })),
    {
      type: 'function_call_result',
      callId: OK.id,
      name: OK.name,
      status: 'completed',
      output: { type: 'text', text: JSON.stringify(OK.response) },
    },
    {
      type: 'function_call_result',
      callId: FAILED.id,
      name: FAILED.name,
      status: 'completed',
      output: { type: 'text', text: FAILED.error },
    },
    { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: ANSWER }] },
  ]);
}

async function aiSdk(sessions: SessionService): Promise<void> {
  const agents = new AgentSessions({ sessions });
  const inputSchema = z.object({ order: z.number() });
  const tools = {
    [OK.name]: tool({ inputSchema, execute: async () => OK.response }),
    [FAILED.name]: tool({
      inputSchema,
      execute: async (): Promise<object> => {
        throw new Error(FAILED.error);
      },
    }),
  };
  const chats = new ChatSessions({ sessions, agents, agentName: AGENT, tools });
  const first = step(...thought(THOUGHT, SIGNATURE), ...[OK, FAILED].map(({ id, name, args }) => call(id, name, args)));
  const used = first.map((part) =>
    part.type === 'finish'
      ? { ...part, usage: { ...part.usage, inputTokens: { ...part.usage.inputTokens, total: TOKENS } } }
      : part,
  );
  const scripted = model(used, step(...text(ANSWER)));
  Object.assign(scripted, { modelId: MODEL });
  const parts = [
    { type: 'text' as const, text: QUESTION },
    { type: 'file' as const, mediaType: 'image/png', url: `data:image/png;base64,${PNG}` },
    {
      type: 'file' as const,
      mediaType: 'application/pdf',
      url: `data:application/pdf;base64,${PDF}`,
      filename: FILE_NAME,
    },
    { type: 'file' as const, mediaType: 'image/png', url: LINK },
  ];
  const { appName, userId, sessionId } = KEY;
  const request = { id: sessionId, messages: [{ id: 'm1', role: 'user' as const, parts }] };
  const answer = await chats.answer({ appName, userId, request }, async ({ messages }) =>
    streamText({
      model: scripted,
      messages: await convertToModelMessages(messages, { tools }),
      tools,
      stopWhen: stepCountIs(3),
      experimental_download: async (files) => files.map(() => null),
    }),
  );
  await answer.result;
  await agents.close();
}

/** A question and what follows, as LangChain has it. */
export function langChainMessages() {
  return [
    new HumanMessage({
      content: [
        { type: 'text', text: QUESTION },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
        { type: 'file', file: { file_data: `data:application/pdf;base64,${PDF}`, filename: FILE_NAME } },
        { type: 'image_url', image_url: { url: LINK } },
      ],
    }),
    new AIMessage({
      name: AGENT,
      content: [{ type: 'thinking', thinking: THOUGHT, signature: SIGNATURE }],
      tool_calls: [OK, FAILED].map(({ id, name, args }) => ({ id, name, args })),
      response_metadata: { model_name: MODEL },
      usage_metadata: { input_tokens: TOKENS, output_tokens: 3, total_tokens: TOKENS + 3 },
    }),
    new ToolMessage({ tool_call_id: OK.id, name: OK.name, content: JSON.stringify(OK.response) }),
    new ToolMessage({ tool_call_id: FAILED.id, name: FAILED.name, content: FAILED.error, status: 'error' }),
    new AIMessage({ name: AGENT, content: ANSWER, response_metadata: { model_name: MODEL } }),
  ];
}

async function langChain(sessions: SessionService): Promise<void> {
  await new SessionChatHistory({ sessions, ...KEY }).addMessages(langChainMessages());
}

async function langGraph(sessions: SessionService): Promise<void> {
  const { appName, userId, sessionId } = KEY;
  const [asked, ...said] = langChainMessages();
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('agent', () => ({ messages: said }))
    .addEdge(START, 'agent')
    .compile({ checkpointer: new SessionSaver({ sessions, appName, userId }) });
  await graph.invoke({ messages: asked ? [asked] : [] }, { configurable: { thread_id: sessionId } });
}

const claudeSays = (content: readonly object[], more: object = {}) => ({
  ...prompt(''),
  type: 'assistant',
  message: { role: 'assistant', model: MODEL, content, ...more },
});

async function claude(sessions: SessionService): Promise<void> {
  const { appName, userId, sessionId } = KEY;
  const store = new ClaudeSessionStore({ sessions, appName, userId });
  const results = [
    { type: 'tool_result', tool_use_id: OK.id, content: JSON.stringify(OK.response) },
    { type: 'tool_result', tool_use_id: FAILED.id, content: FAILED.error, is_error: true },
  ];
  await store.append({ projectKey: 'project', sessionId }, [
    prompt([
      { type: 'text', text: QUESTION },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
      { type: 'document', title: FILE_NAME, source: { type: 'base64', media_type: 'application/pdf', data: PDF } },
      { type: 'image', source: { type: 'url', url: LINK } },
    ]),
    claudeSays(
      [
        { type: 'thinking', thinking: THOUGHT, signature: SIGNATURE },
        ...[OK, FAILED].map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
      ],
      { id: 'msg_1', usage: { input_tokens: TOKENS, output_tokens: 3 } },
    ),
    prompt(results),
    claudeSays([{ type: 'text', text: ANSWER }]),
  ]);
}

async function a2a(sessions: SessionService): Promise<void> {
  const asked = message('m1', QUESTION);
  const file = { ...textPart(''), content: undefined };
  asked.parts.push(
    { ...file, content: { $case: 'raw', value: Buffer.from(PNG, 'base64') }, mediaType: 'image/png' },
    {
      ...file,
      content: { $case: 'raw', value: Buffer.from(PDF, 'base64') },
      mediaType: 'application/pdf',
      filename: FILE_NAME,
    },
    { ...file, content: { $case: 'url', value: LINK } },
  );
  const history = [asked, message('m2', ANSWER, Role.ROLE_AGENT)];
  const tasks = new SessionTaskStore({ sessions, appName: KEY.appName, agent: AGENT });
  await tasks.save(taskOf(KEY.sessionId, { history }), callOf({ user: KEY.userId }));
}

export const WRITERS: readonly Writer[] = [
  { name: 'ADK', had: FACTS, write: adk },
  { name: 'agents of the app, AG-UI', had: FACTS, write: agUi },
  { name: 'OpenAI Agents', had: without('error flag', 'name', 'model', 'tokens'), write: openAi },
  { name: 'AI SDK', had: without('name', 'model'), write: aiSdk },
  { name: 'LangChain history', had: FACTS, write: langChain },
  { name: 'LangGraph', had: FACTS, write: langGraph },
  { name: 'Claude', had: without('name'), write: claude },
  { name: 'A2A', had: ['text', 'images', 'documents', 'links to files', 'names of files'], write: a2a },
];
