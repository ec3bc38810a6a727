import type { Clock } from '../../../src/sessions/domain/process/clock.js';
import type { OpenStorage } from '../../../src/testing/open-storage.js';
import { VertexSessionStorage, type VertexSessionStorageOptions } from '../../../src/vertex.js';
import { VertexServer } from './vertex-server.js';

export const ENGINE = 'projects/p-1/locations/us-central1/reasoningEngines/77';

/** A store at the server. */
export function storageAt(
  server: VertexServer,
  options: Partial<VertexSessionStorageOptions> = {},
): VertexSessionStorage {
  return new VertexSessionStorage({
    reasoningEngine: ENGINE,
    endpoint: server.endpoint,
    singleProcess: true,
    accessToken: async () => 'token-1',
    ...options,
  });
}

/** An empty store for the contract suites, whose lifetimes are shorter than a day. */
export async function openVertex({ clock }: { clock?: Clock | undefined }): Promise<OpenStorage> {
  const server = await VertexServer.start({ clock, minTtlMs: 0 });
  const storage = storageAt(server, { clock });
  return {
    storage,
    async raw() {
      const { sessions } = server;
      return {
        sessions: sessions.length,
        events: sessions.flatMap(({ events }) => events).length,
        stateEntries: sessions.flatMap(({ sessionState }) => Object.keys(sessionState).filter(isOfApp)).length,
        text: JSON.stringify(sessions),
      };
    },
    async destroy() {
      await storage.close();
      await server.stop();
    },
  };
}

function isOfApp(key: string): boolean {
  return !key.startsWith('_agent_sessions');
}
