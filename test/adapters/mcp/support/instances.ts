import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';
import { SessionEventStore } from '../../../../src/adapters/mcp/index.js';
import type { SessionService } from '../../../../src/index.js';

export const USER = { appName: 'mcp', userId: 'ann' };

/** What a tool does after its second message. */
export type Pause = (name: string) => Promise<void>;

/** One process of an app: a server of MCP behind HTTP, as the SDK's examples write it. */
export class Instance {
  readonly #transports = new Map<string, StreamableHTTPServerTransport>();
  readonly #open = new Set<ServerResponse>();
  readonly #http: Server;

  constructor(
    private readonly sessions: SessionService,
    private readonly pause: Pause = async () => undefined,
  ) {
    this.#http = createServer((request, response) => void this.#handle(request, response));
  }

  async start(): Promise<URL> {
    await new Promise<void>((resolve) => {
      this.#http.listen(0, '127.0.0.1', resolve);
    });
    return new URL(`http://127.0.0.1:${(this.#http.address() as AddressInfo).port}/mcp`);
  }

  /** Breaks all connections. */
  cut(): void {
    for (const response of this.#open) response.socket?.destroy();
  }

  async stop(): Promise<void> {
    for (const transport of this.#transports.values()) await transport.close();
    this.#http.closeAllConnections();
    await new Promise((resolve) => {
      this.#http.close(resolve);
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#open.add(response);
    response.on('close', () => this.#open.delete(response));
    const id = request.headers['mcp-session-id'] as string | undefined;
    const transport = (id && this.#transports.get(id)) || (await this.#transport(id, response));
    await transport.handleRequest(request, response);
  }

  /** A new session, or one of another instance: that one's streams can be resumed here. */
  async #transport(id: string | undefined, response: ServerResponse): Promise<StreamableHTTPServerTransport> {
    const mcpSessionId = id ?? randomUUID();
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const follow = { signal: gone.signal, onEnd: () => void transport.close() };
    const transport = new StreamableHTTPServerTransport({
      ...(id === undefined && { sessionIdGenerator: () => mcpSessionId }),
      eventStore: new SessionEventStore({
        sessions: this.sessions,
        ...USER,
        mcpSessionId,
        ...(id !== undefined && { follow }),
      }),
      retryInterval: 20,
    });
    if (id === undefined) this.#transports.set(mcpSessionId, transport);
    await countingServer(this.pause).connect(transport);
    return transport;
  }
}

/** A tool that says five numbers, and pauses after the second. */
function countingServer(pause: Pause): McpServer {
  const server = new McpServer({ name: 'counting', version: '1.0.0' }, { capabilities: { logging: {} } });
  server.registerTool('count', { inputSchema: { name: z.string() } }, async ({ name }, extra) => {
    for (let number = 1; number <= 5; number++) {
      const params = { level: 'info' as const, data: `${name}${number}` };
      await extra.sendNotification({ method: 'notifications/message', params });
      if (number === 2) await pause(name);
    }
    return { content: [{ type: 'text', text: `counted ${name}` }] };
  });
  return server;
}
