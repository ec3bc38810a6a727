import { type BaseMessage, AIMessage, ToolMessage } from '@langchain/core/messages';
import { SessionTaskStore } from '../../../../src/adapters/a2a/index.js';
import { AdkSessionService } from '../../../../src/adapters/adk/index.js';
import { toAgUiMessages } from '../../../../src/adapters/ag-ui/event-messages.js';
import { ChatSessions } from '../../../../src/adapters/ai-sdk/index.js';
import { ClaudeSessionStore } from '../../../../src/adapters/claude-agent/index.js';
import { SessionChatHistory, SessionSaver } from '../../../../src/adapters/langgraph/index.js';
import { AgentsSession } from '../../../../src/adapters/openai-agents/index.js';
import { AgentSessions, toMessages } from '../../../../src/agents/index.js';
import type { SessionService } from '../../../../src/index.js';
import { callOf } from '../../a2a/support/tasks.js';
import { AGENT, FAILED, type Fact, MODEL, TOKENS, factsIn } from './facts.js';
import { KEY } from './writers.js';

/** Reads the conversation as a framework gives it to its users. */
export interface Reader {
  readonly name: string;
  read(sessions: SessionService): Promise<readonly Fact[]>;
}

/** The facts of a reading, with those that each framework says in its own way. */
function seen(read: unknown, own: Partial<Record<Fact, boolean>> = {}): Fact[] {
  const facts = factsIn(read);
  const others = (Object.keys(own) as Fact[]).filter((fact) => own[fact] === true);
  return facts.length > 0 ? [...facts, ...others] : [];
}

async function adk(sessions: SessionService): Promise<Fact[]> {
  const session = await new AdkSessionService({ sessions }).getSession(KEY);
  const events = session?.events ?? [];
  const responses = events.flatMap(({ content }) =>
    (content?.parts ?? []).map(({ functionResponse }) => functionResponse),
  );
  return seen(
    events.map(({ content }) => content),
    {
      'error flag': responses.some((each) => each?.id === FAILED.id && each.response?.error !== undefined),
      name: events.some(({ author }) => author === AGENT),
      model: events.some((event) => (event as { modelVersion?: string }).modelVersion === MODEL),
      tokens: events.some(({ usageMetadata }) => usageMetadata?.promptTokenCount === TOKENS),
    },
  );
}

async function openAi(sessions: SessionService): Promise<Fact[]> {
  const items = await new AgentsSession({ sessions, ...KEY }).getItems();
  return seen(items, {
    // The SDK has no flag: models read the error in the output.
    'error flag': items.some(
      (item) => item.type === 'function_call_result' && JSON.stringify(item.output).includes('{\\"error\\":'),
    ),
  });
}

async function aiSdk(sessions: SessionService): Promise<Fact[]> {
  const agents = new AgentSessions({ sessions });
  const messages = await new ChatSessions({ sessions, agents }).load(KEY);
  await agents.close();
  const parts = messages.flatMap((message) => message.parts);
  return seen(messages, {
    'error flag': parts.some(
      (part) => 'errorText' in part && part.state === 'output-error' && part.toolCallId === FAILED.id,
    ),
  });
}

function langChainFacts(messages: readonly BaseMessage[]): Fact[] {
  const answers = messages.filter((each) => AIMessage.isInstance(each));
  return seen(
    messages.map((each) => each.toDict()),
    {
      'error flag': messages.some(
        (each) => ToolMessage.isInstance(each) && each.tool_call_id === FAILED.id && each.status === 'error',
      ),
      name: answers.some(({ name }) => name === AGENT),
      model: answers.some(({ response_metadata: metadata }) => metadata.model_name === MODEL),
      tokens: answers.some(({ usage_metadata: usage }) => usage?.input_tokens === TOKENS),
    },
  );
}

async function langChain(sessions: SessionService): Promise<Fact[]> {
  return langChainFacts(await new SessionChatHistory({ sessions, ...KEY }).getMessages());
}

async function langGraph(sessions: SessionService): Promise<Fact[]> {
  const { appName, userId, sessionId } = KEY;
  const saver = new SessionSaver({ sessions, appName, userId });
  const tuple = await saver.getTuple({ configurable: { thread_id: sessionId } });
  return langChainFacts((tuple?.checkpoint.channel_values.messages ?? []) as BaseMessage[]);
}

async function claude(sessions: SessionService): Promise<Fact[]> {
  const { appName, userId, sessionId } = KEY;
  const entries =
    (await new ClaudeSessionStore({ sessions, appName, userId }).load({ projectKey: 'project', sessionId })) ?? [];
  const text = JSON.stringify(entries);
  return seen(entries, {
    'error flag': text.includes('"is_error":true'),
    model: text.includes(`"model":"${MODEL}"`),
    tokens: text.includes(`"input_tokens":${TOKENS}`),
  });
}

async function a2a(sessions: SessionService): Promise<Fact[]> {
  const tasks = new SessionTaskStore({ sessions, appName: KEY.appName });
  const task = await tasks.load(KEY.sessionId, callOf({ user: KEY.userId }));
  const parts = (task?.history ?? []).flatMap((each) => each.parts);
  // Bytes have no JSON of their own.
  return seen(
    parts.map(({ content, filename }) => [
      content?.$case === 'raw' ? Buffer.from(content.value).toString('base64') : content?.value,
      filename,
    ]),
  );
}

async function agUi(sessions: SessionService): Promise<Fact[]> {
  const session = await sessions.getSession(KEY);
  const messages = (session?.events ?? []).flatMap(toAgUiMessages);
  return seen(messages, {
    'error flag': messages.some(
      (each) => each.role === 'tool' && each.toolCallId === FAILED.id && each.error !== undefined,
    ),
    name: messages.some((each) => each.role === 'assistant' && each.name === AGENT),
  });
}

async function models(sessions: SessionService): Promise<Fact[]> {
  const session = await sessions.getSession(KEY);
  const messages = toMessages(session?.events ?? [], { format: 'anthropic' });
  return seen(messages, { 'error flag': JSON.stringify(messages).includes('"is_error":true') });
}

export const READERS: readonly Reader[] = [
  { name: 'ADK', read: adk },
  { name: 'AG-UI', read: agUi },
  { name: 'OpenAI Agents', read: openAi },
  { name: 'AI SDK', read: aiSdk },
  { name: 'LangChain history', read: langChain },
  { name: 'models (`toMessages`)', read: models },
  { name: 'LangGraph', read: langGraph },
  { name: 'Claude', read: claude },
  { name: 'A2A', read: a2a },
];
