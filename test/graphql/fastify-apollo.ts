import type { ApolloServer, ApolloServerPlugin } from '@apollo/server';
import { HeaderMap } from '@apollo/server';

// The part of `@as-integrations/fastify` that the tests need. @nestjs/apollo loads it on Fastify.

interface FastifyRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}

interface FastifyReply {
  code(status: number): FastifyReply;
  headers(headers: Record<string, string>): FastifyReply;
  send(body: string): FastifyReply;
}

interface HandlerOptions {
  readonly context: (request: FastifyRequest, reply: FastifyReply) => Promise<object>;
}

function fastifyApolloHandler(server: ApolloServer, { context }: HandlerOptions) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const headers = new HeaderMap();
    for (const [name, value] of Object.entries(request.headers)) {
      if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
    }
    const { method, body, url } = request;
    const { search } = new URL(url, 'http://localhost');
    const answer = await server.executeHTTPGraphQLRequest({
      httpGraphQLRequest: { method, headers, body, search },
      context: () => context(request, reply),
    });
    const text = answer.body.kind === 'complete' ? answer.body.string : '';
    return reply
      .code(answer.status ?? 200)
      .headers(Object.fromEntries(answer.headers))
      .send(text);
  };
}

function fastifyApolloDrainPlugin(): ApolloServerPlugin {
  return {};
}

/** Mocks the integration with Fastify, which is not installed, for `@nestjs/apollo`. */
export function provideFastifyIntegration(): void {
  jest.mock('@as-integrations/fastify', () => ({ fastifyApolloHandler, fastifyApolloDrainPlugin }), { virtual: true });
}
