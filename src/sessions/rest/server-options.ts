import { SESSIONS_BODY_LIMIT } from '../faces/body-limit.js';
import { PROBLEM_TYPE, problemOf } from '../faces/problems.js';
import { answerUnreadable } from '../faces/unanswerable.js';

/** What is used of Fastify's reply. */
interface FastifyReply {
  hijack(): unknown;
  readonly raw: { writeHead(status: number, headers: Record<string, string>): unknown; end(body: string): unknown };
}

/**
 * Options of `FastifyAdapter` under which ids may be as long as they may be, and keys such as `__proto__` are
 * ordinary ones: they are stored as text and never become part of an object. A slash at the end of a path is one too many, as on Express.
 *
 * @example
 * NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter(FASTIFY_OPTIONS));
 */
export const FASTIFY_OPTIONS = {
  bodyLimit: SESSIONS_BODY_LIMIT,
  routerOptions: { maxParamLength: 1_000, ignoreTrailingSlash: true },
  onProtoPoisoning: 'ignore',
  onConstructorPoisoning: 'ignore',
  clientErrorHandler: answerUnreadable,
  /** What Fastify itself refuses, before Nest hears of it. */
  frameworkErrors(error: Error, _request: unknown, reply: FastifyReply): void {
    const problem = problemOf(error);
    reply.hijack();
    reply.raw.writeHead(problem.status, { 'Content-Type': PROBLEM_TYPE, 'Cache-Control': 'no-store' });
    reply.raw.end(JSON.stringify(problem));
  },
} as const;
