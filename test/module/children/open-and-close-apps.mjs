// Runs scenarios with apps that use the built package. The process must end by itself.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SessionService, SessionsModule } from 'nestjs-agent-sessions';

const { scenarios: names, stores, cycles } = JSON.parse(process.argv[2]);
let settings;
const quiet = { logger: false, abortOnError: false };
const ttl = { enabled: true };

const moduleOf = (...others) => {
  class AppModule {}
  Module({ imports: [SessionsModule.forRoot({ ...settings, ttl }), ...others] })(AppModule);
  return AppModule;
};
const moduleThatFails = (where) => {
  class FailingModule {
    constructor() {
      if (where === 'constructor') throw new Error('Another part of the app fails');
    }

    onModuleInit() {
      throw new Error('Another part of the app fails');
    }
  }
  Module({})(FailingModule);
  return FailingModule;
};

async function live(AppModule, turn = 0) {
  const app = await NestFactory.createApplicationContext(AppModule, quiet);
  const sessions = app.get(SessionService);
  const key = { appName: 'shop', userId: 'ann', sessionId: `life-${turn}` };
  const session = await sessions.createSession(key);
  await sessions.appendEvent({ session, event: { author: 'agent' } });
  await sessions.deleteSession(key);
  return app;
}

const heap = () => {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
};

const scenarios = {
  async once() {
    const app = await live(moduleOf());
    await app.close();
    await app.close();
  },
  async 'two at a time'() {
    const AppModule = moduleOf();
    const apps = [await live(AppModule, 1), await live(AppModule, 2)];
    await apps[0].close();
    // The other app still works.
    const sessions = apps[1].get(SessionService);
    const { id: sessionId } = await sessions.createSession({ appName: 'shop', userId: 'ann' });
    await sessions.deleteSession({ appName: 'shop', userId: 'ann', sessionId });
    await apps[1].close();
  },
  async 'many cycles'() {
    const AppModule = moduleOf();
    let early = 0;
    for (let turn = 1; turn <= cycles; turn++) {
      await (await live(AppModule, turn)).close();
      if (turn === Math.floor(cycles / 5)) early = heap();
    }
    return heap() - early;
  },
  async 'another module fails in its constructor'() {
    return NestFactory.createApplicationContext(moduleOf(moduleThatFails('constructor')), quiet).catch(String);
  },
  async 'another module fails in onModuleInit'() {
    const app = await NestFactory.create(moduleOf(moduleThatFails('onModuleInit')), quiet);
    const failure = await app.init().catch(String);
    await app.close();
    return failure;
  },
  async 'the store is unreachable'() {
    return live(moduleOf()).catch(({ code, message }) => `${code}: ${message}`);
  },
};

const outcomes = [];
for (settings of stores) {
  for (const name of names) outcomes.push((await scenarios[name]()) ?? 'done');
}
console.log(JSON.stringify(outcomes));
