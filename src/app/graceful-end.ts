import type { Server } from 'node:http';
import { constants } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { type INestApplication, Logger } from '@nestjs/common';
import type { AppConfig } from '../config/app.config.js';
import { SessionsHealth } from '../health/index.js';
import { SessionService } from '../index.js';
import { SummarizerSessionManager } from '../summarizer/index.js';
import { OpenRequests } from './open-requests.js';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** npm passes on the Ctrl-C that the terminal has delivered already: those two are one wish. */
const ECHO_MS = 500;
/** What is cut off still gets that long to be cleaned up. */
const CLEAN_UP_MS = 2_000;

const logger = new Logger('Shutdown');

/**
 * Ends the process on a signal, with nothing lost: it is not ready any more, takes no more connections, answers what was asked, ends
 * live streams, and closes its stores. Another signal ends it at once.
 */
export function endOnSignals(app: INestApplication<Server>, settings: AppConfig['shutdown']): void {
  const requests = new OpenRequests(app.getHttpServer());
  let beganAt: number | undefined;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (beganAt === undefined) {
        beganAt = performance.now();
        logger.log(`${signal}: ending, with ${requests.count} requests under way.`);
        void end(app, requests, settings).then((code) => process.exit(code));
      } else if (performance.now() - beganAt > ECHO_MS) {
        process.exit(128 + constants.signals[signal]);
      }
    });
  }
}

/** Answers the exit code. */
async function end(
  app: INestApplication,
  requests: OpenRequests,
  { delaySeconds, limitSeconds }: AppConfig['shutdown'],
): Promise<number> {
  const limitMs = limitSeconds * 1000;
  try {
    app.get(SessionsHealth).beginClosing();
    await pause(delaySeconds * 1000);
    setTimeout(() => {
      logger.warn(`${requests.count} requests are cut off after ${limitSeconds} seconds.`);
      requests.cutOff();
    }, limitMs);
    setTimeout(() => giveUp(), limitMs + CLEAN_UP_MS);
    // Streams end with the service, which goes on to take what is asked of it until the stores are closed.
    await Promise.all([
      requests.finish(),
      app.get(SessionService).finish(),
      app.get(SummarizerSessionManager).finish(),
    ]);
    await app.close();
    return 0;
  } catch (error) {
    logger.error('The app did not end as it should', error instanceof Error ? error.stack : String(error));
    return 1;
  }
}

function giveUp(): void {
  logger.error('Not everything could be closed in time.');
  process.exit(1);
}
