import 'reflect-metadata';
import { ConsoleLogger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { endOnSignals } from './app/graceful-end.js';
import { greeting } from './app/greeting.js';
import { logRequests, logWebSockets } from './app/request-log.js';
import { type AppConfig, appConfig, sessionsOfApp } from './config/app.config.js';
import type { SessionsConfig } from './config/index.js';
import { mountDocs } from './openapi/index.js';
import { SESSIONS_BODY_LIMIT, answerUnreadable } from './sessions/rest/index.js';

async function start(): Promise<void> {
  // What goes wrong until the app listens is said once, below.
  const app = await NestFactory.create<NestExpressApplication>(AppModule, {
    logger: false,
    abortOnError: false,
  });
  const { port, isRequestLogged, shutdown } = app.get<AppConfig>(appConfig.KEY);
  if (isRequestLogged) {
    logRequests(app);
    logWebSockets(app.getHttpServer());
  }
  app.getHttpServer().on('clientError', answerUnreadable);
  app.useBodyParser('json', { limit: SESSIONS_BODY_LIMIT });
  mountDocs(app, { title: 'Agent Sessions for NestJS' });
  endOnSignals(app, shutdown);
  try {
    await app.listen(port);
  } catch (error) {
    // Else what is open already keeps the process alive.
    await app.close();
    throw error;
  }
  app.useLogger(new ConsoleLogger({ logLevels: ['log', 'warn', 'error'] }));
  console.log(greeting(await app.getUrl(), app.get<SessionsConfig>(sessionsOfApp.KEY)));
}

function explanation(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isPortTaken = 'code' in error && error.code === 'EADDRINUSE';
  return isPortTaken ? `${error.message}. Set PORT to a free port.` : error.message;
}

// Whoever reads the log may go; the app goes on without.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

start().catch((error: unknown) => {
  console.error(`The app could not start. ${explanation(error)}`);
  process.exitCode = 1;
});
