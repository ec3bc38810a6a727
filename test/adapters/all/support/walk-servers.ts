import type { IncomingMessage, ServerResponse } from 'node:http';
import { DefaultPushNotificationSender, JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { Body, Controller, Delete, Get, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import {
  SessionPushNotificationStore,
  SessionRequestHandler,
  SessionTaskStore,
} from '../../../../src/adapters/a2a/index.js';
import { SessionEventStore } from '../../../../src/adapters/mcp/index.js';
import { ComponentSession, InMemoryComponentStore } from '../../../../src/components/index.js';
import { SessionService } from '../../../../src/index.js';
import { CountingAgent, cardOf } from '../../a2a/support/server.js';
import { type Request, ownerOf } from './walk-users.js';

/** Of the SDK: of Node on Express, with Node's own on Fastify. */
interface Incoming extends Request {
  readonly raw?: IncomingMessage;
  readonly body?: unknown;
}

interface Outgoing {
  readonly raw?: ServerResponse;
  hijack?(): void;
}

/** Node's response, of which Fastify keeps away. */
export function responseOf(response: Outgoing): ServerResponse {
  response.hijack?.();
  return response.raw ?? (response as unknown as ServerResponse);
}

/** A server of MCP as docs/adapters/mcp.md mounts it, where the transport is at another instance. */
@Controller('mcp')
export class McpController {
  constructor(@Inject(SessionService) private readonly sessions: SessionService) {}

  @Get()
  async resume(@Req() request: Incoming, @Res() response: Outgoing): Promise<void> {
    await this.#handle(request, response);
  }

  @Post()
  async send(@Req() request: Incoming, @Res() response: Outgoing): Promise<void> {
    await this.#handle(request, response);
  }

  @Delete()
  async close(@Req() request: Incoming, @Res() response: Outgoing): Promise<void> {
    await this.#handle(request, response);
  }

  async #handle(request: Incoming, response: Outgoing): Promise<void> {
    const { appName, userId } = ownerOf(request);
    const mcpSessionId = request.headers['mcp-session-id'] ?? 'none';
    const eventStore = new SessionEventStore({
      sessions: this.sessions,
      appName: `${appName}-mcp`,
      userId,
      mcpSessionId,
    });
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, eventStore });
    await new McpServer({ name: 'walk', version: '1.0.0' }).connect(transport);
    const incoming = request.raw ?? (request as unknown as IncomingMessage);
    await transport.handleRequest(incoming, responseOf(response), request.body);
  }
}

/**
 * An agent of A2A as docs/adapters/a2a.md makes it, where a tenant is a user whose tasks are meant: only the access rule keeps others
 * from them.
 */
@Controller('a2a')
export class A2aController {
  readonly #handler: JsonRpcTransportHandler;

  constructor(@Inject(SessionService) sessions: SessionService) {
    const scope = {
      appName: (): string => 'shop',
      userId: ({ tenant, user }: ServerCallContext): string => tenant || (user?.userName ?? ''),
    };
    const tasks = new SessionTaskStore({ sessions, ...scope });
    const components = new ComponentSession({ store: new InMemoryComponentStore({}) });
    const push = new SessionPushNotificationStore({ components, ...scope });
    const sender = new DefaultPushNotificationSender(push);
    this.#handler = new JsonRpcTransportHandler(
      new SessionRequestHandler(cardOf(), tasks, new CountingAgent(), undefined, push, sender),
    );
  }

  @Post()
  @HttpCode(200)
  async call(@Req() request: Incoming, @Body() body: Record<string, unknown>): Promise<unknown> {
    const user = { isAuthenticated: true, userName: ownerOf(request).userId };
    const state = new Map([['headers', request.headers]]);
    const context = new ServerCallContext({ user, state, requestedVersion: '1.0' });
    const answer = await this.#handler.handle(body, context);
    if (!(Symbol.asyncIterator in answer)) return answer;
    const answers: unknown[] = [];
    for await (const each of answer) answers.push(each);
    return answers;
  }
}
