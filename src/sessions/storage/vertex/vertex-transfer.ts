import type { SessionKey, UserKey } from '../../domain/values/ids.js';
import type { TransferStore } from '../transfer-store.js';
import { APP_LABEL } from './engines.js';
import { listedByService } from './list-sessions.js';
import { sessionIdOf } from './snapshot.js';
import { sharedUsageError } from './unsupported-parts.js';
import { type VertexConnection, belongsTo } from './vertex-connection.js';
import { lastPart } from './wire.js';

/** Takes over sessions of other stores, and erases users. */
export class VertexTransfer implements TransferStore {
  readonly keepsShared = false;
  readonly keepsKeyOrder = false;

  /** @param forget removes what this process remembers of a session */
  constructor(
    private readonly connection: VertexConnection,
    private readonly forget: (key: SessionKey) => void,
  ) {}

  async *sharedOwners(): AsyncIterable<readonly string[]> {
    this.connection.now();
    yield [];
  }

  async restoreUsage(): Promise<boolean> {
    throw sharedUsageError();
  }

  async eraseUser({ appName, userId }: UserKey): Promise<number> {
    const engine = this.connection.engineOf(appName);
    const api = this.connection.apiOf(engine);
    const erased = new Set<string>();
    // Pages shift while sessions are deleted, so it ends with a list that shows none that is new.
    for (let before = -1; before < erased.size;) {
      before = erased.size;
      for await (const session of listedByService(api, { userId, appLabel: engine.appLabel })) {
        if (erased.has(session.name) || !belongsTo(session, { userId }, engine)) continue;
        // An engine shows the sessions of all apps that it has, but each app is erased by its own name.
        if (session.labels?.[APP_LABEL] !== engine.appLabel) continue;
        const key = { appName, userId, sessionId: sessionIdOf(session) };
        await this.connection.inTurn(key, async () => {
          await api.delete(lastPart(session.name));
          this.forget(key);
        });
        erased.add(session.name);
      }
    }
    return erased.size;
  }
}
