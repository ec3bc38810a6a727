import type { IncomingMessage, ServerResponse } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { SessionService } from '../../sessions/session.service.js';
import { DurableStreams, type DurableStreamsOptions } from './durable-streams.js';

/** Options of {@link mountDurableStreams}. */
export interface MountOptions extends Omit<DurableStreamsOptions, 'sessions'> {
  /** The path before the names of streams. Default: `v1/stream`. */
  readonly path?: string | undefined;
}

/**
 * Serves the streams of an app, on Express and Fastify. Call it before the app listens, so that no other code reads the bodies.
 *
 * @example
 * const app = await NestFactory.create(AppModule);
 * mountDurableStreams(app, { owner: (request) => userOf(request) });
 * await app.listen(3000);
 */
export function mountDurableStreams(app: INestApplication, { path = 'v1/stream', ...options }: MountOptions): void {
  const streams = new DurableStreams({ ...options, sessions: app.get(SessionService, { strict: false }) });
  const base = `/${path.replaceAll(/^\/|\/$/g, '')}/`;
  app.use((request: IncomingMessage & { originalUrl?: string }, response: ServerResponse, next: () => void) => {
    const url = request.originalUrl ?? request.url ?? '/';
    if (!url.startsWith(base)) return next();
    request.url = url;
    void streams.handle(request, response, base);
  });
}
