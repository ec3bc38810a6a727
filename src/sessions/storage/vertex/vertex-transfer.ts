import { isAsExpected } from '../../domain/commit-rules.js';
import type { SessionKey } from '../../domain/ids.js';
import { UnsupportedByStoreError } from '../../domain/unsupported-error.js';
import { sessionOfUsage } from '../../domain/usage-periods.js';
import type {
  EraseUserRequest,
  RestoreEventsRequest,
  RestoreUsageRequest,
  SharedScope,
  TransferStore,
} from '../transfer-store.js';
import { APP_LABEL } from './engines.js';
import { EventSender } from './event-sender.js';
import { listedByService } from './list-sessions.js';
import { findSession, loadSession } from './load-session.js';
import { SNAPSHOT_KEY } from './reserved-keys.js';
import { recordPart, sessionIdOf, snapshotText } from './snapshot.js';
import { sharedUsageError } from './unsupported-parts.js';
import { type VertexConnection, belongsTo } from './vertex-connection.js';
import { lastPart } from './wire.js';

const END_IS_ENOUGH = (): boolean => true;

/** Takes over sessions of other stores, and erases users. */
export class VertexTransfer implements TransferStore {
  readonly keepsShared = false;
  readonly keepsKeyOrder = false;

  /**
   * @param forget removes what this process remembers of a session
   * @param forgetAgenda removes what this process has to do for a user
   */
  constructor(
    private readonly connection: VertexConnection,
    private readonly forget: (key: SessionKey) => void,
    private readonly forgetAgenda: (prefix: string) => void,
  ) {}

  async sharedState(): Promise<SharedScope> {
    this.connection.now();
    return { entries: [] };
  }

  async *sharedOwners(): AsyncIterable<readonly string[]> {
    this.connection.now();
    yield [];
  }

  /** Each event counts by itself, so that an interrupted import goes on after the last one that arrived. */
  restoreEvents({ key, incarnation, lastSeq, events }: RestoreEventsRequest): Promise<boolean> {
    return this.connection.inTurn(key, async () => {
      const loaded = await loadSession(this.connection, key, END_IS_ENOUGH);
      if (!loaded?.snapshot || !isAsExpected(loaded.record, { incarnation, lastSeq })) return false;
      const { snapshot, replica, now } = loaded;
      const sender = new EventSender(this.connection, loaded);
      for (const event of events) {
        const { lastSeq: before, highWater } = replica.part;
        const seq = before + 1;
        const part = { ...recordPart(snapshot), lastSeq: seq, highWater: Math.max(highWater, event.highWater) };
        const delta = { [SNAPSHOT_KEY]: snapshotText({ ...snapshot, ...part, lastId: event.id }) };
        if (!(await sender.send({ ...event, seq }, delta, Math.min(event.appendedAt, now)))) return false;
        replica.add([{ ...event, seq }], part, sender.micros);
      }
      return true;
    });
  }

  /** A session is created with its usage. Later, only an event could add some. */
  async restoreUsage({ owner }: RestoreUsageRequest): Promise<boolean> {
    const key = sessionOfUsage(owner);
    if (!key) throw sharedUsageError();
    const found = await findSession(this.connection, key);
    if (!found || (found.snapshot?.usage ?? []).length > 0) return false;
    throw new UnsupportedByStoreError(
      'Vertex AI takes over the usage of a session when it is created. Delete the session there, and import it again.',
    );
  }

  async eraseUser({ appName, userId, agendaPrefix }: EraseUserRequest): Promise<number> {
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
    this.forgetAgenda(agendaPrefix);
    return erased.size;
  }
}
