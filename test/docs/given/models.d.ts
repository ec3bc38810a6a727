/** Packages of models that the docs name and that are not installed here. */
declare module '@ai-sdk/openai' {
  export function openai(model: string): import('@ai-sdk/provider').LanguageModelV3;
}

declare module '@ai-sdk/anthropic' {
  export function anthropic(model: string): import('@ai-sdk/provider').LanguageModelV3;
}

/** Not installed here: see `npm run docs:adapters -- --next`. */
declare module '@modelcontextprotocol/server' {
  export interface EventStore {
    storeEvent(streamId: string, message: { jsonrpc: '2.0' }): Promise<string>;
  }
  export class McpServer {
    connect(transport: object): Promise<void>;
  }
}

declare module '@modelcontextprotocol/node' {
  import type { IncomingMessage, ServerResponse } from 'node:http';
  import type { EventStore } from '@modelcontextprotocol/server';

  export class NodeStreamableHTTPServerTransport {
    constructor(options: { eventStore: EventStore; retryInterval: number });
    handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void>;
    close(): Promise<void>;
  }
}
