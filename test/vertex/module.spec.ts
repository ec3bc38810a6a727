import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { Test } from '@nestjs/testing';
import { SESSION_STORAGE, SessionService, SessionsModule } from '../../src/index.js';
import { probesOf } from '../../src/health/sessions-health.js';
import type { VertexSettings } from '../../src/config/store-settings.js';
import type { VertexSessionStorage } from '../../src/vertex.js';
import { startGoogleMetadata } from './support/google-metadata.js';
import { ENGINE } from './support/open-vertex.js';
import { VertexServer } from './support/vertex-server.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };

describe('the vertex provider', () => {
  let server: VertexServer;

  beforeEach(async () => {
    server = await VertexServer.start();
  });

  afterEach(() => server.stop());

  function moduleWith(vertex: VertexSettings): ReturnType<ReturnType<typeof Test.createTestingModule>['compile']> {
    const settings = {
      reasoningEngine: ENGINE,
      endpoint: server.endpoint,
      accessToken: async () => 'token-1',
      ...vertex,
    };
    return Test.createTestingModule({
      imports: [SessionsModule.forRoot({ provider: 'vertex', vertex: settings })],
    }).compile();
  }

  it('is chosen by the module, which asks the engine at the start and closes the store at the end', async () => {
    const app = await moduleWith({});
    await app.init();
    // Once to check the settings, and once to open the store.
    const asked = expect.stringContaining('/sessions?pageSize=1') as string;
    expect(server.takeRequests()).toEqual([asked, asked]);
    await app.get(SessionService).createSession(KEY);
    const storage = app.get<VertexSessionStorage>(SESSION_STORAGE);
    await expect(probesOf(storage).read()).resolves.toBeUndefined();
    await expect(probesOf(storage).write()).resolves.toBeUndefined();
    await app.close();
    await expect(storage.read({ key: KEY })).rejects.toThrow('closed');
  });

  it('stops the start if the engine cannot be used', async () => {
    server.tokens.clear();
    await expect(moduleWith({}).then((app) => app.init())).rejects.toMatchObject({ httpStatus: 401 });
  });

  // Jest cannot load this library as ES modules, so another process does.
  it('gets its tokens by the application default credentials', async () => {
    const given = ['refused', 'token-1'];
    const google = await startGoogleMetadata(given);
    const code = `
      import { VertexSessionService } from ${JSON.stringify(resolve('dist/vertex.js'))};
      const sessions = new VertexSessionService(${JSON.stringify({ reasoningEngine: ENGINE, endpoint: server.endpoint, timeLimitMs: 50_000 })});
      console.log((await sessions.createSession(${JSON.stringify(KEY)})).id);
      await sessions.close();
    `;
    try {
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], {
        env: google.env,
      });
      expect(stdout.trim()).toBe('s-1');
      expect(given).toEqual([]);
    } finally {
      google.stop();
    }
  });
});
