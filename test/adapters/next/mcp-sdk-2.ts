import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { QUICK, type Sdk } from '../mcp/support/instances.js';

export const sdk2: Sdk = {
  endsResumed: true,
  async serve(options, counting) {
    const server = new McpServer({ name: 'counting', version: '1.0.0' }, { capabilities: { logging: {} } });
    server.registerTool('count', { inputSchema: z.object({ name: z.string() }) }, async ({ name }, { mcpReq }) => {
      const text = await counting(name, (data) =>
        mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } }),
      );
      return { content: [{ type: 'text', text }] };
    });
    const transport = new NodeStreamableHTTPServerTransport(options);
    await server.connect(transport);
    return transport;
  },
  async connect(url, fetch, hear) {
    const transport = new StreamableHTTPClientTransport(url, { reconnectionOptions: QUICK, fetch });
    const client = new Client({ name: 'test', version: '1.0.0' });
    client.setNotificationHandler('notifications/message', ({ params }) => hear(params.data));
    await client.connect(transport);
    return {
      sessionId: transport.sessionId,
      callTool: (name, args) => client.callTool({ name, arguments: args }),
      close: () => client.close(),
    };
  },
};
