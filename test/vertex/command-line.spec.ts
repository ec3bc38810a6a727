import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { SessionService } from '../../src/index.js';
import { startGoogleMetadata } from './support/google-metadata.js';
import { ENGINE, storageAt } from './support/open-vertex.js';
import { VertexServer } from './support/vertex-server.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };

const COMMANDS = {
  apps: ['list'],
  sessions: ['list', 'shop'],
  session: ['show', 'shop', 'ann', 's-1', '--state'],
  missing: ['show', 'shop', 'ann', 's-2'],
  all: ['verify'],
  app: ['verify', '--app', 'shop', '--repair'],
  user: ['erase-user', 'shop', 'ann', '--yes', 'ann'],
} as const;

type Results = Record<keyof typeof COMMANDS, { readonly code: number; readonly out: string; readonly err: string }>;

/** Runs all commands in one process, since Jest cannot load Google's library. */
async function run(env: NodeJS.ProcessEnv): Promise<Results> {
  const code = `
    import { Readable, Writable } from 'node:stream';
    import { runCli } from ${JSON.stringify(resolve('dist/cli/run-cli.js'))};
    const results = {};
    for (const [name, args] of Object.entries(${JSON.stringify(COMMANDS)})) {
      const said = { out: '', err: '' };
      const to = (name) => new Writable({ write(chunk, _, done) { said[name] += chunk; done(); } });
      const io = { stdout: to('out'), stderr: to('err'), stdin: Readable.from([]), env: process.env };
      results[name] = { code: await runCli(args, { ...io, signal: new AbortController().signal }), ...said };
    }
    console.log(JSON.stringify(results));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], { env });
  return JSON.parse(stdout) as Results;
}

describe('The command line on Vertex AI', () => {
  it('lists, shows and checks sessions of an app, and says what the service cannot do', async () => {
    const server = await VertexServer.start();
    const storage = storageAt(server);
    const google = await startGoogleMetadata(Array.from({ length: 20 }, () => 'token-1'));
    try {
      const sessions = new SessionService({ storage });
      const session = await sessions.createSession({ ...KEY, state: { step: 1 } });
      await sessions.appendEvent({
        session,
        event: { author: 'user', content: { role: 'user', parts: [{ text: 'hello' }] } },
      });

      const { apps, all, user, ...done } = await run({
        ...google.env,
        SESSIONS_PROVIDER: 'vertex',
        SESSIONS_VERTEX_REASONING_ENGINE: ENGINE,
        SESSIONS_VERTEX_ENDPOINT: server.endpoint,
      });
      const refused = { code: 5, out: '', err: expect.stringMatching(/^error UNSUPPORTED_BY_STORE: .*\n$/) as string };
      expect({ apps, all }).toEqual({ apps: refused, all: refused });
      expect(user).toMatchObject({ code: 0, out: 'erased 1 sessions of ann\n' });
      expect(all.err).toContain('Name the app');
      expect(done.sessions).toMatchObject({
        code: 0,
        out: expect.stringMatching(/ {2}ann {2}s-1 {2}1 events\n$/),
        err: '',
      });
      expect(done.session).toMatchObject({ code: 0, err: '' });
      expect(done.session.out).toMatch(/state {3}step = 1\n.*user {2}hello\n$/);
      expect(done.missing).toMatchObject({ code: 4, out: '' });
      expect(done.app).toMatchObject({
        code: 0,
        out: expect.stringContaining('checked 1 sessions, 1 events'),
        err: '',
      });
    } finally {
      google.stop();
      await storage.close();
      await server.stop();
    }
  });
});
