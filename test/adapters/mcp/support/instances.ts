import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SessionEventStore } from '../../../../src/adapters/mcp/index.js';
import type { SessionService } from '../../../../src/index.js';

/** How soon a client comes again. */
export const QUICK = {
  initialReconnectionDelay: 10,
  maxReconnectionDelay: 20,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 200,
};

export const USER = { appName: 'mcp', userId: 'ann' };

/** What a tool does after its second message. */
export type Pause = (name: string) => Promise<void>;

/** The options of a transport that the tests use. */
export interface TransportOptions {
  readonly sessionIdGenerator?: () => string;
  readonly eventStore: SessionEventStore;
  readonly retryInterval: number;
}

/** A transport of a server. */
export interface ServerTransport {
  handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void>;
  close(): Promise<void>;
}

/** A client that is connected, and hears log messages. */
export interface TestClient {
  readonly sessionId: string | undefined;
  callTool(name: string, args: Record<string, unknown>): Promise<unknown>;
  close(): Promise<void>;
}

/** A version of the SDK. */
export interface Sdk {
  /** Whether its transport ends a resumed stream at once. */
  readonly endsResumed: boolean;
  /** A transport of a server that has the tool `count`, which says what `counting` says. */
  serve(options: TransportOptions, counting: Counting): Promise<ServerTransport>;
  connect(url: URL, fetch: Fetch, hear: (said: unknown) => void): Promise<TestClient>;
}

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Says five numbers, and answers. */
export type Counting = (name: string, say: (text: string) => Promise<void>) => Promise<string>;

/** One process of an app: a server of MCP behind HTTP, as the SDK's examples write it. */
export class Instance {
  readonly #transports = new Map<string, ServerTransport>();
  readonly #open = new Set<ServerResponse>();
  readonly #http: Server;

  constructor(
    private readonly sdk: Sdk,
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
  async #transport(id: string | undefined, response: ServerResponse): Promise<ServerTransport> {
    const mcpSessionId = id ?? randomUUID();
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const onEnd = (): void => void transport.close();
    const follow = { signal: gone.signal, onEnd, waitsForMessage: this.sdk.endsResumed };
    const options = {
      ...(id === undefined && { sessionIdGenerator: () => mcpSessionId }),
      eventStore: new SessionEventStore({
        sessions: this.sessions,
        ...USER,
        mcpSessionId,
        ...(id !== undefined && { follow }),
      }),
      retryInterval: 20,
    };
    const transport = await this.sdk.serve(options, countingWith(this.pause));
    if (id === undefined) this.#transports.set(mcpSessionId, transport);
    return transport;
  }
}

/** Pauses after the second number. */
const countingWith =
  (pause: Pause): Counting =>
  async (name, say) => {
    for (let number = 1; number <= 5; number++) {
      await say(`${name}${number}`);
      if (number === 2) await pause(name);
    }
    return `counted ${name}`;
  };
