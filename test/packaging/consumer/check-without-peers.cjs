const assert = require('node:assert/strict');

/** An app of Nest, this package and nothing else: what needs more says what to install. */
module.exports = async function checkWithoutPeers(load) {
  await load('reflect-metadata');
  const { InMemorySessionService } = await load('nestjs-agent-sessions');
  const { describeSessionStorage } = await load('nestjs-agent-sessions/testing');
  assert.equal(typeof describeSessionStorage, 'function');
  await new InMemorySessionService().close();

  await start(load, { provider: 'memory' });
  await refused(load, { provider: 'redis' }, 'ioredis');
  await refused(load, { provider: 'typeorm', database: { database: ':memory:' } }, 'typeorm');
  await refused(load, { provider: 'memory', ttl: { enabled: true } }, '@nestjs/schedule');

  const { SummarizerModule } = await load('nestjs-agent-sessions/summarizer');
  const modelAt = { baseUrl: 'http://127.0.0.1:1/v1', model: 'some' };
  const summaries = SummarizerModule.forRoot({ modelAt, sweepIntervalSeconds: 0 });
  await refused(load, { provider: 'memory', isGlobal: true }, '@ai-sdk/openai-compatible', [summaries]);
};

async function refused(load, options, missing, modules) {
  await assert.rejects(start(load, options, modules), (error) => {
    assert.ok(error.message.includes(`npm install ${missing}`), error.message);
    return true;
  });
}

async function start(load, options, modules = []) {
  const { Module } = await load('@nestjs/common');
  const { NestFactory } = await load('@nestjs/core');
  const { SessionService, SessionsModule } = await load('nestjs-agent-sessions');
  class AppModule {}
  Module({ imports: [SessionsModule.forRoot(options), ...modules] })(AppModule);
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
  await app.get(SessionService).createSession({ appName: 'shop', userId: 'ann' });
  await app.close();
}

module.exports.refused = refused;
