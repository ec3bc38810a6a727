import type { AgentCard } from '@a2a-js/sdk';
import { type AgentExecutor, DefaultPushNotificationSender, DefaultRequestHandler } from '@a2a-js/sdk/server';
import { type SessionStore, foldSessionSummary } from '@anthropic-ai/claude-agent-sdk';
import { type BaseAgent, Runner } from '@google/adk';
import type { BaseListChatMessageHistory } from '@langchain/core/chat_history';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { EventStore } from '@modelcontextprotocol/server';
import { type Agent, type Session, run } from '@openai/agents-core';
import { type LanguageModel, convertToModelMessages, streamText } from 'ai';
import type { SessionService } from 'nestjs-agent-sessions';
import { SessionPushNotificationStore, SessionTaskStore } from 'nestjs-agent-sessions/a2a';
import { AdkSessionService } from 'nestjs-agent-sessions/adk';
import { AgUiModule, agUiRequestOf } from 'nestjs-agent-sessions/ag-ui';
import type { AgentContext } from 'nestjs-agent-sessions/agents';
import { type ChatHandler, ChatsModule } from 'nestjs-agent-sessions/ai-sdk';
import { ClaudeSessionStore } from 'nestjs-agent-sessions/claude-agent';
import type { ComponentSession } from 'nestjs-agent-sessions/components';
import { SessionChatHistory, SessionSaver } from 'nestjs-agent-sessions/langgraph';
import { SessionEventStore } from 'nestjs-agent-sessions/mcp';
import { AgentsSession, BranchedAgentsSession } from 'nestjs-agent-sessions/openai-agents';
import { OpenAccess } from 'nestjs-agent-sessions/rest';

const chat = { appName: 'shop', userId: 'ann', sessionId: 's1' };

/** Each adapter where its framework takes it. */
export const adapters = (sessions: SessionService) => ({
  a2a: (card: AgentCard, executor: AgentExecutor) =>
    new DefaultRequestHandler(card, new SessionTaskStore({ sessions, appName: 'shop' }), executor),
  push: (components: ComponentSession) =>
    new DefaultPushNotificationSender(new SessionPushNotificationStore({ components, appName: 'shop' })),
  claude: (): SessionStore => new ClaudeSessionStore({ sessions, ...chat, foldSessionSummary }),
  adk: (agent: BaseAgent) =>
    new Runner({ appName: 'shop', agent, sessionService: new AdkSessionService({ sessions }) }),
  saver: (): BaseCheckpointSaver => new SessionSaver({ sessions, appName: 'shop' }),
  history: (): BaseListChatMessageHistory => new SessionChatHistory({ sessions, ...chat }),
  agents: (agent: Agent) => run(agent, 'Hello', { session: new AgentsSession({ sessions, ...chat }) }),
  branched: (): Session => new BranchedAgentsSession({ sessions, ...chat }),
  chats: (): object => ChatsModule.forRoot(),
  agUi: () => AgUiModule.forRoot({ access: OpenAccess }),
  mcp: (mcpSessionId: string) =>
    new StreamableHTTPServerTransport({
      sessionIdGenerator: () => mcpSessionId,
      eventStore: new SessionEventStore({ sessions, appName: 'shop-mcp', userId: 'ann', mcpSessionId }),
    }),
});

/** Of version 2 of the SDK of MCP. */
export const eventStoreOf = (sessions: SessionService, mcpSessionId: string): EventStore =>
  new SessionEventStore({ sessions, appName: 'shop-mcp', userId: 'ann', mcpSessionId });

/** An answer of the AI SDK. */
export const answerOf =
  (model: LanguageModel): ChatHandler =>
  async (turn) =>
    streamText({
      model,
      messages: await convertToModelMessages(turn.messages),
      abortSignal: turn.signal,
    });

export const toolsOf = (context: AgentContext): string[] => agUiRequestOf(context).tools.map(({ name }) => name);
