import { SessionService } from '../../src/index.js';
import { diagnose } from '../../src/doctor/index.js';
import type { VertexSessionStorage } from '../../src/vertex.js';
import { storageAt } from './support/open-vertex.js';
import { VertexServer } from './support/vertex-server.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };

describe('The doctor of a managed session', () => {
  let server: VertexServer;
  let storage: VertexSessionStorage;

  beforeAll(async () => {
    server = await VertexServer.start();
    storage = storageAt(server);
    const sessions = new SessionService({ storage });
    const session = await sessions.createSession({ ...KEY, state: { step: 0 }, metadata: { title: 'Order' } });
    for (const [author, text] of [
      ['user', 'find it'],
      ['agent', 'found'],
      ['user', 'and now?'],
    ] as const) {
      const content = { role: 'user', parts: [{ text }] };
      const actions = { stateDelta: { step: text }, metadataDelta: { tags: { add: [author] } } };
      await sessions.appendEvent({
        session,
        event: { author, content, actions, usageMetadata: { promptTokenCount: 3 } },
      });
    }
    await sessions.rewindSession({ ...KEY, toSeq: 2 });
  });
  afterAll(async () => {
    await storage.close();
    await server.stop();
  });

  it('finds nothing in a sound one', async () => {
    expect(await diagnose({ storage, appName: KEY.appName })).toMatchObject({
      isHealthy: true,
      findings: [],
      sessions: 1,
    });
  });

  it('needs the name of the app', async () => {
    await expect(diagnose({ storage })).rejects.toMatchObject({ code: 'UNSUPPORTED_BY_STORE' });
  });
});
