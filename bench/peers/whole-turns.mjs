// Turns of two instances on one session in PostgreSQL, and turns as a session grows: this package beside nestjs-agentic, which is not in
// the npm registry. Give it a clone where `npm install` and `npm run build -w packages/core` were run, with pg and @nestjs/testing@10:
//
//     node bench/peers/whole-turns.mjs ../nestjs-agentic
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { AgentSessions } from '../../dist/agents/index.js';
import { SessionService } from '../../dist/index.js';
import { TypeOrmSessionStorage } from '../../dist/typeorm.js';
import { describeMachine } from '../support/machine.mjs';
import { OWNER } from '../support/owner.mjs';
import { withPlace } from './places.mjs';

const TURNS_EACH = 200;
const PLACES = [0, 500, 900, 1_900];
const MEASURED = 50;
const ANSWER = `ok ${'x'.repeat(900)}`;

const clone = process.argv[2];
const subjects = [{ label: 'this package', open: openOurs }];
if (clone) subjects.push({ label: `nestjs-agentic ${versionOf(clone)}`, open: openAgentic });
const rows = [];
for (const { label, open } of subjects) {
  await withPlace('postgres', async ({ url }) => {
    const instances = [await open(url), await open(url)];
    try {
      rows.push({ label, ...(await race(instances)), ...(await growth(instances[0])) });
    } finally {
      for (const instance of instances) await instance.close();
    }
  });
}
const { cpu, node, load } = describeMachine();
console.log(`${cpu}, Node ${node}, load ${load}`);
console.table(rows);

/** How many of the messages that two instances answered are there in the end. */
async function race(instances) {
  // One after the other: two first turns at once may fail to make a table.
  for (const [writer, { run }] of instances.entries()) await run('warm-up', `${writer}`);
  const answered = [];
  await Promise.all(
    instances.map(async ({ run }, writer) => {
      for (let turn = 0; turn < TURNS_EACH; turn++) {
        await run('shared', `${writer}-${turn}`);
        answered.push(`${writer}-${turn}`);
      }
    }),
  );
  const kept = new Set(await instances[0].messages('shared'));
  return { answered: answered.length, lost: answered.filter((text) => !kept.has(text)).length };
}

/** Turns per second when the session has so many turns. */
async function growth({ run }) {
  const rates = {};
  let turn = 0;
  for (const place of PLACES) {
    while (turn < place) await run('growing', `${turn++}`);
    const start = performance.now();
    for (const end = place + MEASURED; turn < end; turn++) await run('growing', `${turn}`);
    rates[`turns/s at ${place}`] = Math.round(MEASURED / ((performance.now() - start) / 1_000));
  }
  return rates;
}

async function* answer() {
  yield { content: { role: 'model', parts: [{ text: ANSWER }] } };
}

async function openOurs(url) {
  const storage = new TypeOrmSessionStorage({ url });
  await storage.open();
  const sessions = new SessionService({ storage });
  const agents = new AgentSessions({ sessions });
  return {
    run: (sessionId, newMessage) =>
      agents.run({ ...OWNER, sessionId, newMessage, policy: 'enqueue', config: { numRecentEvents: 40 } }, answer)
        .result,
    async messages(sessionId) {
      const { events } = await sessions.getSession({ ...OWNER, sessionId });
      return events.filter(({ author }) => author === 'user').map(({ content }) => content.parts[0].text);
    },
    async close() {
      await agents.close();
      await storage.close();
    },
  };
}

/** Its runner, its PostgreSQL store and its own model for tests. It keeps 40 messages unless it is told otherwise. */
async function openAgentic(url) {
  const fromClone = createRequire(resolve(clone, 'packages/core/package.json'));
  fromClone('reflect-metadata');
  const { Test } = fromClone('@nestjs/testing');
  const agentic = fromClone('./dist/index.js');
  class Bot {
    define() {
      return { instructions: 'Be brief.', tools: [] };
    }
  }
  agentic.Agent({ name: 'bot', description: 'Answers' })(Bot);
  const client = new pg.Pool({ connectionString: url });
  const sessionStore = new agentic.PostgresSessionStore({ client });
  const modelAdapter = { generate: async () => ({ content: ANSWER, toolCalls: [] }) };
  const app = await Test.createTestingModule({
    imports: [
      agentic.AgenticModule.forRoot({
        defaultModel: { provider: 'mock', model: 'fixed' },
        modelAdapter,
        sessionStore,
        session: { maxMessages: 1_000_000 },
      }),
      agentic.AgenticModule.forFeature({ agents: [Bot], toolSets: [] }),
    ],
  }).compile();
  const runner = app.get(agentic.AgentRunner, { strict: false });
  return {
    run: (sessionId, message) => runner.run('bot', { sessionId, message }),
    async messages(sessionId) {
      const { rows: found } = await client.query('SELECT data FROM agentic_sessions WHERE session_id LIKE $1', [
        `%:${sessionId}`,
      ]);
      return found[0].data.messages.filter(({ role }) => role === 'user').map(({ content }) => content);
    },
    async close() {
      await app.close();
      await client.end();
    },
  };
}

function versionOf(folder) {
  const { version } = createRequire(import.meta.url)(resolve(join(folder, 'packages/core/package.json')));
  const commit = execFileSync('git', ['-C', folder, 'rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  return `${version} (${commit})`;
}
