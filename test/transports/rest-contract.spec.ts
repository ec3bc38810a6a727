import { type INestApplication, Global, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { SessionService } from '../../src/index.js';
import { FASTIFY_OPTIONS, ProblemFilter, limitBodies, SessionsRestModule } from '../../src/sessions/rest/index.js';
import { type CreateSessions, type Skip, describeSessionService, sessionsOver } from '../../src/testing/index.js';
import { AppPool } from '../support/app-pool.js';
import { testStores } from '../support/stores.js';
import { remoteSessions } from '../rest/remote/remote-sessions.js';
import { type Framework, frameworks } from '../rest/rest-app.js';
import { OpenPrompts } from './open-prompts.js';

/** What of the contract does not go over HTTP, and why. */
const NOT_OVER_HTTP: readonly Skip[] = [
  {
    reason: 'a path names a session by its id; which one of this id a caller loaded is not sent',
    tests: [
      'an object of a replaced session cannot append to the new one',
      'a batch to a missing session is refused',
      'an object of a replaced session cannot add a summary or a rewind to the new one',
      'an expired session is replaced completely',
    ],
  },
  {
    reason:
      'a time that a constructor filled in is not sent, or a repetition would be another event; the store gives its own',
    tests: ['an instance of Event is accepted like a plain object'],
  },
  {
    reason: 'a client knows of a session what it shows; what it was read without is not sent',
    tests: ['a read limit omits the same events after an append, but no call'],
  },
];

const OPTIONS = { logger: false, forceCloseConnections: true } as const;

async function serve(service: SessionService, framework: Framework): Promise<INestApplication> {
  @Global()
  @Module({ providers: [{ provide: SessionService, useValue: service }], exports: [SessionService] })
  class ServiceModule {}
  @Module({ imports: [ServiceModule, SessionsRestModule.forRoot({ access: OpenPrompts })] })
  class AppModule {}
  const app =
    framework === 'Express'
      ? await NestFactory.create<NestExpressApplication>(AppModule, OPTIONS)
      : await NestFactory.create(AppModule, new FastifyAdapter(FASTIFY_OPTIONS), OPTIONS);
  limitBodies(app, { maxBytesInFlightPerAddress: 0 });
  app.useGlobalFilters(new ProblemFilter());
  await app.listen(0, '127.0.0.1');
  return app;
}

function overRest(create: CreateSessions, apps: AppPool<INestApplication>): CreateSessions {
  return async (options) => {
    const { sessions, raw, destroy } = await create(options);
    const service = sessions as SessionService;
    const pooled = await apps.take(service);
    const { maxEvents = 0, eventTtlSeconds = 0 } = options.history ?? {};
    const filter = { newest: maxEvents, maxAgeMs: eventTtlSeconds * 1000 };
    const now = (): number => options.clock.now();
    return {
      sessions: remoteSessions({ url: await pooled.app.getUrl(), filter, now, service }),
      raw,
      async destroy() {
        await destroy();
        apps.giveBack(pooled);
      },
    };
  };
}

/** The stores that `STORES` names. Default: only `memory`, since the contract of each store is tested without transports. */
const stores = process.env.STORES ? testStores : testStores.filter(({ name }) => name === 'memory');

for (const { name, open } of stores) {
  for (const framework of frameworks) {
    const apps = new AppPool((service) => serve(service, framework));
    afterAll(() => apps.close());
    describeSessionService({
      name: `${name} over REST on ${framework}`,
      create: overRest(sessionsOver(open), apps),
      skip: NOT_OVER_HTTP,
    });
  }
}
