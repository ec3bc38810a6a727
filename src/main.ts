import 'reflect-metadata';
import { ConsoleLogger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { shutDownOnSignals } from './app/graceful-shutdown.js';
import { startupMessage } from './app/endpoints.js';
import { prepareApp } from './app/prepare-app.js';
import { type AppConfig, appConfig, sessionsOfApp } from './config/app.config.js';
import type { SessionsConfig } from './config/index.js';
import { StoreUnavailableError } from './index.js';

async function start(): Promise<void> {
  // Errors before the app listens are printed once, below.
  const app = await NestFactory.create<NestExpressApplication>(AppModule, {
    logger: false,
    abortOnError: false,
  });
  const config = app.get<AppConfig>(appConfig.KEY);
  const { port, host, shutdown } = config;
  prepareApp(app);
  shutDownOnSignals(app, shutdown);
  try {
    await app.listen(port, host);
  } catch (error) {
    // Open connections would keep the process alive.
    await app.close();
    throw error;
  }
  app.useLogger(new AppLogger({ logLevels: ['log', 'warn', 'error'] }));
  console.log(startupMessage(await app.getUrl(), config, app.get<SessionsConfig>(sessionsOfApp.KEY)));
}

/** Says nothing of the modules of an app: this one starts so, and so does the one that serves GraphQL, later. */
class AppLogger extends ConsoleLogger {
  static readonly #LEFT_OUT = ['NestFactory', 'InstanceLoader', 'GraphQLModule', 'NestApplication'];

  override log(message: unknown, ...others: unknown[]): void {
    if (!AppLogger.#LEFT_OUT.includes(String(others.at(-1)))) super.log(message, ...others);
  }
}

/** Hints for errors of `listen`. */
const ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE: 'Set PORT to a free port.',
  EACCES: 'Set PORT to a port that this user may listen on.',
  EADDRNOTAVAIL: 'Set HOST to an address of this machine.',
  ENOTFOUND: 'Set HOST to an address of this machine.',
};

function explanation(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof StoreUnavailableError) return error.reason;
  const advice = 'code' in error && 'syscall' in error ? ADVICE[String(error.code)] : undefined;
  return advice === undefined ? error.message : `${error.message}. ${advice}`;
}

// The app survives a closed stdout or stderr.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

start().catch((error: unknown) => {
  console.error(`The app could not start. ${explanation(error)}`);
  process.exitCode = 1;
});
