const assert = require('node:assert/strict');
const { existsSync, mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join, resolve } = require('node:path');
const manifest = require('nestjs-agent-sessions/package.json');

const key = { appName: 'smoke', userId: 'ada', sessionId: 's1' };

/** Uses the built package the way an application does, by whatever means its modules were loaded. */
module.exports = async function checkPackage({ root, typeorm, redis, testing }) {
  assert.equal(typeof testing.describeSessionStorage, 'function');
  assert.equal(typeof testing.describeSessionService, 'function');
  // No server is asked for: the client connects when it is first needed.
  await new redis.RedisSessionService().close();
  for (const { types } of Object.values(manifest.exports)) assert.ok(!types || existsSync(resolve(types)), types);

  await checkRoundTrip(root, new root.InMemorySessionService());
  const folder = mkdtempSync(join(tmpdir(), 'sessions-smoke-'));
  try {
    const database = join(folder, 'sessions.db');
    await checkRoundTrip(root, new typeorm.DatabaseSessionService({ database }));
  } finally {
    rmSync(folder, { recursive: true });
  }
};

async function checkRoundTrip(root, sessions) {
  assert.ok(sessions instanceof root.SessionService);
  const session = await sessions.createSession({ ...key, state: { 'user:name': 'Ada' } });
  const event = new root.Event({ author: 'user', content: { role: 'user', parts: [{ text: 'hello' }] } });
  assert.equal((await sessions.appendEvent({ session, event })).seq, 1);
  await assert.rejects(sessions.createSession(key), root.SessionExistsError);

  const read = await sessions.getSession(key);
  assert.equal(read.events.length, 1);
  assert.equal(read.state.get('user:name'), 'Ada');
  await sessions.close();
}
