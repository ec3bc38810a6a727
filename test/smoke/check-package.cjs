const assert = require('node:assert/strict');
const { existsSync, mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join, resolve } = require('node:path');
const manifest = require('nestjs-agent-sessions/package.json');

const key = { appName: 'smoke', userId: 'ada', sessionId: 's1' };

/** Uses the built package like an application, with modules that `import` or `require` loaded. */
module.exports = async function checkPackage({
  root,
  adapter,
  config,
  health,
  telemetry,
  typeorm,
  redis,
  vertex,
  storage,
  testing,
  ...others
}) {
  assert.equal(typeof testing.describeSessionStorage, 'function');
  assert.equal(typeof testing.describeSessionService, 'function');
  assert.equal(typeof storage.DecidingStorage, 'function');
  assert.equal(typeof adapter.readPages, 'function');
  assert.deepEqual(config.sessionsFromEnvironment({ NODE_ENV: 'test' }).provider, 'memory');
  assert.equal(typeof health.SessionsHealth, 'function');
  assert.equal(typeof telemetry.SessionsTelemetryModule, 'function');
  assert.equal(config.ConfigurationError, root.ConfigurationError);
  // No server is asked for: the client connects when it is first needed.
  await new redis.RedisSessionService().close();
  await new vertex.VertexSessionService({ project: 'p', location: 'us-central1', reasoningEngine: '1' }).close();
  await checkSummaries(root, others);
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

async function checkSummaries(
  root,
  {
    agents,
    components,
    search,
    mcp,
    aiSdk,
    claudeAgent,
    transfer,
    doctor,
    adk,
    a2a,
    agUi,
    langgraph,
    openaiAgents,
    rest,
    graphql,
    summarizer,
  },
) {
  assert.equal(typeof agents.AgentsModule.forFeature, 'function');
  assert.equal(typeof transfer.exportSessions, 'function');
  assert.equal(typeof doctor.checkStore, 'function');
  assert.equal(typeof aiSdk.ChatSessions, 'function');
  assert.equal(typeof claudeAgent.ClaudeSessionStore, 'function');
  assert.equal(typeof mcp.SessionEventStore, 'function');
  assert.equal(typeof components.ComponentsModule.forRoot, 'function');
  assert.equal(typeof search.SearchModule.forRoot, 'function');
  assert.equal(typeof adk.AdkSessionService, 'function');
  assert.equal(typeof a2a.SessionTaskStore, 'function');
  assert.equal(typeof agUi.AgUiModule.forRoot, 'function');
  assert.equal(typeof langgraph.SessionSaver, 'function');
  assert.equal(typeof openaiAgents.AgentsSession, 'function');
  assert.equal(typeof rest.AgentsRestModule.forRoot, 'function');
  assert.equal(typeof graphql.AgentsGraphqlModule.forRoot, 'function');
  assert.equal(typeof rest.SummarizerRestModule.forRoot, 'function');
  assert.equal(typeof graphql.SummarizerGraphqlModule.forRoot, 'function');
  assert.equal(typeof rest.SearchRestModule.forRoot, 'function');
  assert.equal(typeof graphql.SearchGraphqlModule.forRoot, 'function');
  assert.equal(typeof rest.mountDocs, 'function');
  assert.equal(typeof rest.SessionsRestModule.forRoot, 'function');
  assert.equal(typeof graphql.SessionsGraphqlModule.forRoot, 'function');
  const summaries = await new summarizer.ExtractiveSummaryModel().summarize(
    { conversation: [{ author: 'user', text: 'Where is order 4711?' }], maxSummaryLength: 500, prompt: '' },
    { signal: new AbortController().signal },
  );
  assert.ok(summaries.text.includes('4711'));
  assert.ok(new summarizer.SummaryNotFoundError('s1') instanceof root.SessionsError);
}
