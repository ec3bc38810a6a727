import { SESSIONS_BODY_LIMIT } from '../transport/http-defaults.js';
import { PROBLEM_TYPE, problemOf } from '../transport/problems.js';
import { answerMalformedHttp } from '../transport/malformed-http.js';

/** The part of Fastify's reply that is used here. */
interface FastifyReply {
  hijack(): unknown;
  readonly raw: { writeHead(status: number, headers: Record<string, string>): unknown; end(body: string): unknown };
}

/**
 * Options of `FastifyAdapter`: the full length of ids, keys such as `__proto__` as ordinary keys (they are stored as text and
 * never assigned to an object), and trailing slashes as on Express.
 *
 * @example
 * NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter(FASTIFY_OPTIONS));
 */
export const FASTIFY_OPTIONS = {
  bodyLimit: SESSIONS_BODY_LIMIT,
  routerOptions: { maxParamLength: 1_000, ignoreTrailingSlash: true },
  onProtoPoisoning: 'ignore',
  onConstructorPoisoning: 'ignore',
  clientErrorHandler: answerMalformedHttp,
  /** Errors of Fastify that Nest does not see. */
  frameworkErrors(error: Error, _request: unknown, reply: FastifyReply): void {
    const problem = problemOf(error);
    reply.hijack();
    reply.raw.writeHead(problem.status, { 'Content-Type': PROBLEM_TYPE, 'Cache-Control': 'no-store' });
    reply.raw.end(JSON.stringify(problem));
  },
} as const;
