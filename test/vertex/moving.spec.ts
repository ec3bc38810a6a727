import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { exportSessions, importSessions } from '../../src/transfer/index.js';
import { storageAt } from './support/open-vertex.js';
import { VertexServer } from './support/vertex-server.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const said = (id: string, text: string, timestamp: number) => ({
  id,
  author: 'user',
  timestamp,
  content: { role: 'user', parts: [{ text }] },
  actions: { stateDelta: { last: id } },
});

describe('Moving to Vertex AI', () => {
  it('refuses an import before it writes, and can be given what an agent needs, as the page shows', async () => {
    const server = await VertexServer.start();
    const [memory, vertex] = [new InMemorySessionStorage(), storageAt(server)];
    const [from, to] = [new SessionService({ storage: memory }), new SessionService({ storage: vertex })];
    try {
      const session = await from.createSession({ ...KEY, state: { initial: [1], 'user:theme': 'dark' } });
      for (const [id, at] of [
        ['e-1', 1],
        ['e-2', 2],
        ['e-3', 3],
      ] as const) {
        await from.appendEvent({ session, event: said(id, `text of ${id}`, 1_793_527_200_000 + at) });
      }
      await from.rewindSession({ ...KEY, toSeq: 2 });

      await expect(importSessions(vertex, exportSessions(memory))).rejects.toMatchObject({
        code: 'UNSUPPORTED_BY_STORE',
      });
      expect(server.sessions).toEqual([]);

      for (let times = 0; times < 2; times++) {
        const source = await from.getSession(KEY);
        if (!source) throw new Error('no session');
        const own = Object.entries(source.state.toRecord()).filter(([name]) => !/^(app|user|temp):/.test(name));
        const target = await to.getOrCreateSession({ ...KEY, state: Object.fromEntries(own) });
        for (const { seq: _seq, actions: _actions, ...event } of source.events) {
          await to.appendEvent({ session: target, event });
        }
      }
      const copy = await storedCopy(to);
      expect(copy.events).toMatchObject([
        { id: 'e-1', timestamp: 1_793_527_200_001, content: { parts: [{ text: 'text of e-1' }] } },
        { id: 'e-2', timestamp: 1_793_527_200_002, content: { parts: [{ text: 'text of e-2' }] } },
      ]);
      expect(copy.events).toHaveLength(2);
      expect(copy.state).toEqual({ initial: [1], last: 'e-2' });
    } finally {
      await vertex.close();
      await memory.close();
      await server.stop();
    }
  });
});

async function storedCopy(sessions: SessionService): Promise<{ events: readonly object[]; state: object }> {
  const copy = await sessions.getSession(KEY);
  return { events: copy?.events ?? [], state: copy?.state.toRecord() ?? {} };
}
