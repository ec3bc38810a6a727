import type { NestExpressApplication } from '@nestjs/platform-express';
import { type AppConfig, appConfig } from '../config/app.config.js';
import { mountDocs } from '../openapi/index.js';
import { crossSiteMiddleware, crossSiteRefusal } from '../sessions/transport/cross-site.js';
import { checkUpgrades } from '../sessions/transport/upgrade-checks.js';
import { answerMalformedHttp, limitBodies } from '../sessions/rest/index.js';
import { logRefusedUpgrade, logRequests, logWebSockets } from './request-log.js';
import { RequestLimit, limitMiddleware } from './request-limit.js';

/** More connections are closed at once. */
const MAX_CONNECTIONS = 2_000;

/** Adds the middleware of `npm start`. The order matters: checks come before work. */
export function prepareApp(app: NestExpressApplication): void {
  const config = app.get<AppConfig>(appConfig.KEY);
  const { isRequestLogged, allowedHosts: hosts, allowedOrigins: origins, trustedProxies } = config;
  const limit = app.get(RequestLimit);
  const server = app.getHttpServer();
  server.maxConnections = MAX_CONNECTIONS;
  app.disable('x-powered-by');
  if (isRequestLogged) {
    logRequests(app);
    logWebSockets(server);
  }
  app.use(crossSiteMiddleware({ hosts, origins }));
  app.use(limitMiddleware(limit));
  checkUpgrades(
    server,
    async (request) => crossSiteRefusal(request, { hosts, origins }) ?? (await limit.arrive(request)),
    isRequestLogged ? logRefusedUpgrade : undefined,
  );
  if (origins.length > 0) {
    const methods = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'];
    const exposedHeaders = ['ETag', 'Link', 'Location', 'Idempotent-Replayed', 'Retry-After'];
    app.enableCors({ origin: [...origins], methods, exposedHeaders });
  }
  server.on('clientError', answerMalformedHttp);
  limitBodies(app, { trustedProxies });
  mountDocs(app, { title: 'Agent Sessions for NestJS' });
}
