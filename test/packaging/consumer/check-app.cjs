const assert = require('node:assert/strict');
const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

const key = { appName: 'shop', userId: 'ann', sessionId: 's1' };

/** A Nest app that has everything: sessions by environment variables, in memory and in a SQLite file. */
module.exports = async function checkApp(load) {
  await load('reflect-metadata');
  const { SessionService, SessionsCleanup } = await load('nestjs-agent-sessions');
  const { describeSessionService, describeSessionStorage } = await load('nestjs-agent-sessions/testing');
  assert.deepEqual([typeof describeSessionService, typeof describeSessionStorage], ['function', 'function']);
  for (const entry of Object.keys(require('nestjs-agent-sessions/package.json').exports)) {
    if (!entry.endsWith('.json')) await load(entry.replace('.', 'nestjs-agent-sessions'));
  }
  // No server is asked for: the client connects when it is first needed.
  const { RedisSessionService } = await load('nestjs-agent-sessions/redis');
  await new RedisSessionService().close();

  // So that the cleanup is scheduled too, and has to let the process end.
  process.env.SESSIONS_TTL_ENABLED = 'true';
  const during = async (use) => {
    const app = await startApp(load);
    await use(app.get(SessionService));
    assert.deepEqual(await app.get(SessionsCleanup).run(), { sessions: 0, userStates: 0, appStates: 0 });
    await app.close();
  };

  process.env.SESSIONS_PROVIDER = 'memory';
  await during(converse);

  const folder = mkdtempSync(join(tmpdir(), 'sessions-app-'));
  try {
    process.env.SESSIONS_PROVIDER = 'typeorm';
    process.env.SESSIONS_DATABASE_URL = `sqlite:${join(folder, 'sessions.db')}`;
    await during(converse);
    await during(remember);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

async function startApp(load) {
  const { Module } = await load('@nestjs/common');
  const { NestFactory } = await load('@nestjs/core');
  const { ConfigModule } = await load('@nestjs/config');
  const { ScheduleModule } = await load('@nestjs/schedule');
  const { SessionsModule } = await load('nestjs-agent-sessions');
  const { sessionsConfig } = await load('nestjs-agent-sessions/config');
  class AppModule {}
  Module({
    imports: [
      ConfigModule.forRoot({ ignoreEnvFile: true, load: [sessionsConfig] }),
      ScheduleModule.forRoot(),
      SessionsModule.forRootAsync(sessionsConfig.asProvider()),
    ],
  })(AppModule);
  return NestFactory.createApplicationContext(AppModule, { logger: ['warn', 'error'], abortOnError: false });
}

async function converse(sessions) {
  const session = await sessions.createSession({ ...key, state: { 'user:name': 'Ann' } });
  const event = { author: 'user', content: { role: 'user', parts: [{ text: 'hello' }] } };
  assert.equal((await sessions.appendEvent({ session, event })).seq, 1);
  await remember(sessions);
}

async function remember(sessions) {
  const { events, state } = await sessions.getSession(key);
  assert.equal(events[0].content.parts[0].text, 'hello');
  assert.equal(state.get('user:name'), 'Ann');
}
