// A server of MCP in a Nest app: the connection of its client breaks in the middle of a call, and the client resumes it.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import 'reflect-metadata';
import { All, Controller, Inject, Module, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SessionService, SessionsModule } from 'nestjs-agent-sessions';
import { SessionEventStore } from 'nestjs-agent-sessions/mcp';

/** Breaks the connection, as a network does. */
let breakConnection = (): void => undefined;

function ordersServer(): McpServer {
  const server = new McpServer({ name: 'orders', version: '1.0.0' }, { capabilities: { logging: {} } });
  server.registerTool('find_order', {}, async (extra) => {
    const say = (data: string): Promise<void> =>
      extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data } });
    await say('I look for the order.');
    await new Promise((resolve) => setTimeout(resolve, 50));
    console.log('the connection breaks');
    breakConnection();
    await say('I found it.');
    return { content: [{ type: 'text', text: 'It is on its way.' }] };
  });
  return server;
}

@Controller()
class McpController {
  readonly #transports = new Map<string, StreamableHTTPServerTransport>();

  constructor(@Inject(SessionService) private readonly sessions: SessionService) {}

  @All('mcp')
  async handle(@Req() request: IncomingMessage & { body?: unknown }, @Res() response: ServerResponse): Promise<void> {
    if (request.method === 'POST') breakConnection = () => void response.socket?.destroy();
    const id = request.headers['mcp-session-id'];
    const transport = (typeof id === 'string' && this.#transports.get(id)) || (await this.#open());
    await transport.handleRequest(request, response, request.body);
  }

  async #open(): Promise<StreamableHTTPServerTransport> {
    const mcpSessionId = randomUUID();
    const userId = 'ann'; // your app knows the user from the request
    const eventStore = new SessionEventStore({ sessions: this.sessions, appName: 'shop-mcp', userId, mcpSessionId });
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => mcpSessionId, eventStore });
    this.#transports.set(mcpSessionId, transport);
    await ordersServer().connect(transport);
    return transport;
  }
}

@Module({
  imports: [SessionsModule.forRoot({ provider: 'memory', ttl: { enabled: true, sessionSeconds: 3_600 } })],
  controllers: [McpController],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: false });
await app.listen(0, '127.0.0.1');
const reconnectionOptions = {
  initialReconnectionDelay: 20,
  maxReconnectionDelay: 20,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 5,
};
const transport = new StreamableHTTPClientTransport(new URL('mcp', `${await app.getUrl()}/`), { reconnectionOptions });
const client = new Client({ name: 'example', version: '1.0.0' });
client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => console.log('server:', params.data));
await client.connect(transport);
const { content } = await client.callTool({ name: 'find_order' });
console.log('answer:', content);
await client.close();
await app.close();
