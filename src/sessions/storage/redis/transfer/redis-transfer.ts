import type { Cluster } from 'ioredis';
import type { UserKey } from '../../../domain/values/ids.js';
import type { RestoreUsageRequest, TransferStore } from '../../transfer-store.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { storeUnavailable } from '../connect/driver-errors.js';
import type { RedisConnection } from '../connect/redis-connection.js';
import type { RedisKeys } from '../redis-keys.js';
import type { ScriptRunner } from '../script/script.js';
import { eraseUser } from './erase-user.js';
import { restoreUsage } from './restore-usage.js';

/** About how many keys the server looks at for each request. */
const KEYS_PER_STEP = 1_000;

/** Takes over sessions of other stores, and erases users. */
export class RedisTransfer implements TransferStore {
  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: RedisKeys,
    private readonly appScopeOf: (scripts: ScriptRunner) => AppScope,
  ) {}

  /**
   * Goes through all keys of the server, since users without sessions are in no index. A user has several keys, and the server
   * may show a key twice, so the ids of the users are in memory.
   */
  async *sharedOwners(appName: string): AsyncIterable<readonly string[]> {
    await this.connection.open();
    const { client } = this.connection;
    const nodes = client.isCluster ? (client as Cluster).nodes('master') : [client];
    const pattern = `${escapeGlob(this.keys.baseOfUsers(appName))}|*}:us*`;
    const seen = new Set<string>();
    for (const node of nodes) {
      let cursor = '0';
      do {
        const found = await node.scan(cursor, 'MATCH', pattern, 'COUNT', KEYS_PER_STEP).catch(unavailable);
        cursor = found[0];
        const users = new Set(found[1].flatMap((key) => this.keys.userOf(key) ?? []));
        const unseen = [...users].filter((user) => !seen.has(user));
        for (const user of unseen) seen.add(user);
        if (unseen.length > 0) yield unseen;
      } while (cursor !== '0');
    }
  }

  restoreUsage(request: RestoreUsageRequest): Promise<boolean> {
    return restoreUsage(this.connection.startCall(), this.keys, request);
  }

  /** It may take long, so each of its scripts has its own time limit. */
  eraseUser(user: UserKey): Promise<number> {
    return eraseUser(this.connection, this.keys, this.appScopeOf(this.connection), user);
  }
}

function escapeGlob(text: string): string {
  return text.replace(/[*?[\]\\]/g, String.raw`\$&`);
}

function unavailable(error: unknown): never {
  throw storeUnavailable(error, false, 'Redis');
}
