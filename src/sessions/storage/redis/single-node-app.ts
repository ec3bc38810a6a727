import type { SessionKey } from '../../domain/ids.js';
import type { StateWrites } from '../../domain/scope-writes.js';
import type { ListRequest, ListResult } from '../session-storage.js';
import type { AppScope, ListPage } from './app-scope.js';
import { readListPage } from './list-page.js';
import type { RedisKeys } from './redis-keys.js';
import { type ScriptArguments, writeArguments } from './script-arguments.js';
import type { ScriptRunner } from './script-runner.js';
import { type FlatHash, type SharedState, sharedStateOf } from './session-replies.js';

/** On one node the script of a session does everything itself. */
export class SingleNodeApp implements AppScope {
  constructor(
    private readonly connection: ScriptRunner,
    private readonly keys: RedisKeys,
  ) {}

  sessionKeys(key: SessionKey): string[] {
    const { appName } = key;
    return [
      ...this.keys.ofSession(key),
      this.keys.stateOf({ appName }),
      ...this.indexKeys(appName),
      ...this.registryKeys(appName),
    ];
  }

  indexKeys(appName: string): string[] {
    return this.keys.indexesOf({ appName });
  }

  registryKeys(appName: string): string[] {
    return [this.keys.usersOf(appName), this.keys.apps];
  }

  writeArguments(writes: StateWrites): ScriptArguments {
    return writeArguments(writes);
  }

  async stateOf(_appName: string, reply: FlatHash): Promise<SharedState> {
    return sharedStateOf(reply);
  }

  listKeys(appName: string): string[] {
    return [this.keys.stateOf({ appName })];
  }

  async complete(_appName: string, { result }: ListPage): Promise<ListResult> {
    return result;
  }

  async listApp(request: ListRequest): Promise<ListResult> {
    const { appName } = request;
    const keys = [...this.indexKeys(appName), this.keys.baseOfUsers(appName), ...this.listKeys(appName)];
    return (await readListPage(this.connection, request, keys)).result;
  }

  async finish(): Promise<void> {}

  async renewIfDue(): Promise<void> {}

  async touch(): Promise<void> {}

  async register(): Promise<void> {}

  async forget(): Promise<void> {}
}
