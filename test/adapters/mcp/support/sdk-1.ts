import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { QUICK, type Sdk } from './instances.js';

export const sdk1: Sdk = {
  endsResumed: false,
  async serve(options, counting) {
    const server = new McpServer({ name: 'counting', version: '1.0.0' }, { capabilities: { logging: {} } });
    server.registerTool('count', { inputSchema: { name: z.string() } }, async ({ name }, extra) => {
      const text = await counting(name, (data) =>
        extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data } }),
      );
      return { content: [{ type: 'text', text }] };
    });
    const transport = new StreamableHTTPServerTransport(options);
    await server.connect(transport);
    return transport;
  },
  async connect(url, fetch, hear) {
    const transport = new StreamableHTTPClientTransport(url, { reconnectionOptions: QUICK, fetch });
    const client = new Client({ name: 'test', version: '1.0.0' });
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => hear(params.data));
    await client.connect(transport);
    return {
      sessionId: transport.sessionId,
      callTool: (name, args) => client.callTool({ name, arguments: args }),
      close: () => client.close(),
    };
  },
};
