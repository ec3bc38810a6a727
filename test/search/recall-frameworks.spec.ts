import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage, ToolMessage } from '@langchain/core/messages';
import { DynamicStructuredTool } from '@langchain/core/tools';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Agent, Runner, Usage, tool as agentsTool } from '@openai/agents-core';
import { ScriptedModel, assistantMessage, functionCall, modelResponse } from '@openai/agents-core/testing';
import { generateText, jsonSchema, stepCountIs, tool } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { InMemorySessionService } from '../../src/index.js';
import { type RecallTools, SessionSearch, recallTools } from '../../src/search/index.js';
import { USER } from './support.js';

const QUERY = { query: 'allergic' };

describe('The tools of recall, called by a model of', () => {
  let sessions: InMemorySessionService;
  let recall: RecallTools;
  beforeEach(async () => {
    sessions = new InMemorySessionService();
    const session = await sessions.createSession({ ...USER, sessionId: 'old' });
    const content = { role: 'user', parts: [{ text: 'I am allergic to peanuts' }] };
    await sessions.appendEvent({ session, event: { author: 'user', content } });
    recall = recallTools({ search: new SessionSearch({ sessions }), ...USER, currentSessionId: 'now' });
  });
  afterEach(() => sessions.close());

  it('the AI SDK', async () => {
    const usage = {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    };
    const call = { type: 'tool-call', toolCallId: 'c-1', toolName: 'search_sessions', input: JSON.stringify(QUERY) };
    const model = new MockLanguageModelV3({
      doGenerate: [
        { content: [call as never], finishReason: { unified: 'tool-calls', raw: undefined }, usage, warnings: [] },
        {
          content: [{ type: 'text', text: 'Peanuts.' }],
          finishReason: { unified: 'stop', raw: undefined },
          usage,
          warnings: [],
        },
      ],
    });
    const tools = Object.fromEntries(
      Object.entries(recall).map(([name, { description, parameters, run }]) => [
        name,
        tool({ description, inputSchema: jsonSchema<object>(parameters), execute: (args) => run(args as never) }),
      ]),
    );
    const { text } = await generateText({ model, tools, prompt: 'What must I not eat?', stopWhen: stepCountIs(3) });
    expect(text).toBe('Peanuts.');
    const [first, second] = model.doGenerateCalls;
    expect(first?.tools).toMatchObject([
      { name: 'search_sessions', inputSchema: recall.search_sessions.parameters },
      { name: 'read_session_window' },
    ]);
    expect(JSON.stringify(second?.prompt)).toContain('allergic to peanuts');
  });

  it('the OpenAI Agents SDK', async () => {
    const model = new ScriptedModel([
      modelResponse({ output: [functionCall('search_sessions', QUERY, { callId: 'c-1' })], usage: new Usage() }),
      modelResponse({ output: [assistantMessage('Peanuts.')], usage: new Usage() }),
    ]);
    const tools = Object.entries(recall).map(([name, { description, parameters, run }]) =>
      agentsTool({
        name,
        description,
        parameters: { ...parameters, additionalProperties: true },
        strict: false,
        execute: (args) => run(args as never),
      }),
    );
    const agent = new Agent({ name: 'support', model, tools });
    const { finalOutput } = await new Runner({ tracingDisabled: true }).run(agent, 'What must I not eat?');
    expect(finalOutput).toBe('Peanuts.');
    const [first, second] = model.calls;
    expect(first?.request.tools).toMatchObject([{ name: 'search_sessions' }, { name: 'read_session_window' }]);
    expect(JSON.stringify(second?.request.input)).toContain('allergic to peanuts');
  });

  it('LangChain', async () => {
    const tools = Object.entries(recall).map(
      ([name, { description, parameters: schema, run }]) =>
        new DynamicStructuredTool({ name, description, schema, func: run }),
    );
    const model = new ScriptedChat([
      new AIMessage({ content: '', tool_calls: [{ id: 'c-1', name: 'search_sessions', args: QUERY }] }),
      new AIMessage('Peanuts.'),
    ]);
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addNode('tools', new ToolNode(tools))
      .addEdge(START, 'model')
      .addConditionalEdges('model', toolsCondition)
      .addEdge('tools', 'model')
      .compile();
    const { messages } = await graph.invoke({ messages: [{ role: 'user', content: 'What must I not eat?' }] });
    expect(messages.at(-1)?.content).toBe('Peanuts.');
    const result = model.asked[1]?.find((message) => ToolMessage.isInstance(message));
    expect(result?.text).toContain('allergic to peanuts');
  });

  it('a client of MCP', async () => {
    const server = new Server({ name: 'recall', version: '1.0.0' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: Object.entries(recall).map(([name, { description, parameters: inputSchema }]) => {
        return { name, description, inputSchema };
      }),
    }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args } }) => {
      const found = await recall[name as keyof RecallTools].run(args as never);
      return { content: [{ type: 'text', text: JSON.stringify(found) }] };
    });
    const [there, here] = InMemoryTransport.createLinkedPair();
    const client = new Client({ name: 'test', version: '1.0.0' });
    await Promise.all([server.connect(there), client.connect(here)]);
    const { tools } = await client.listTools();
    expect(tools.map(({ inputSchema }) => inputSchema)).toEqual([
      recall.search_sessions.parameters,
      recall.read_session_window.parameters,
    ]);
    const { content } = await client.callTool({ name: 'search_sessions', arguments: QUERY });
    expect(JSON.stringify(content)).toContain('allergic to peanuts');
    await client.close();
  });
});

/** A model of LangChain that answers by a script, and keeps what it was asked. */
class ScriptedChat extends BaseChatModel {
  readonly asked: BaseMessage[][] = [];
  readonly #answers: AIMessage[];

  constructor(answers: readonly AIMessage[]) {
    super({});
    this.#answers = [...answers];
  }

  override _llmType(): string {
    return 'scripted';
  }

  override async _generate(messages: BaseMessage[]) {
    this.asked.push(messages);
    const message = this.#answers.shift();
    if (!message) throw new Error('The script has ended');
    return { generations: [{ text: message.text, message }] };
  }
}
