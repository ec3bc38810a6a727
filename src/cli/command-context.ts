import { ConfigurationError } from '../config/configuration-error.js';
import type { SessionsConfig } from '../config/sessions-environment.js';
import { storePlaceOf } from '../config/store-place.js';
import { type ChosenStorage, provideStorage } from '../sessions/module/choose-storage.js';
import { type StoreSchema, storeSchemaOf } from '../sessions/module/store-schema.js';
import { SessionService } from '../sessions/session.service.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import { type AuditedCommand, CommandAudit } from './command-audit.js';
import type { CliIo } from './io.js';
import { Output } from './output.js';
import { type StoreOptions, readAuditConfig, settingsOf } from './store-options.js';

/** Options of all commands. */
export interface CommonOptions extends StoreOptions {
  readonly json?: boolean | undefined;
}

/** What to do about old tables that a DataSource of an app made. */
export const APP_MIGRATES =
  'an app made them with its DataSource: run its migrations, with the newest SESSION_MIGRATIONS.';

/** What a command works with. It opens the store when the command asks for it. */
export class CommandContext {
  readonly output: Output;
  readonly #io: CliIo;
  readonly #options: CommonOptions;
  #settings: SessionsConfig | undefined;
  #chosen: ChosenStorage | undefined;
  #service: SessionService | undefined;
  #audit: CommandAudit | undefined;

  constructor(
    io: CliIo,
    options: CommonOptions,
    private readonly command: AuditedCommand,
  ) {
    this.#io = io;
    this.#options = options;
    this.output = new Output(io, options.json ?? false);
  }

  get signal(): AbortSignal {
    return this.#io.signal;
  }

  get stdin(): CliIo['stdin'] {
    return this.#io.stdin;
  }

  get settings(): SessionsConfig {
    return (this.#settings ??= settingsOf(this.#options, this.#io.env));
  }

  /** Where the sessions are, without credentials. */
  get place(): string {
    return storePlaceOf(this.settings);
  }

  /** Which migrations the database has, if the store is one. */
  schema(): Promise<StoreSchema | undefined> {
    return storeSchemaOf(this.settings);
  }

  /**
   * Opens the store without a change to its tables. Refuses a database whose tables are older than this package: only `migrate`
   * changes tables.
   */
  async storage(): Promise<SessionStorage> {
    if (this.#chosen) return this.#chosen.storage;
    const { pending = [], isOfApp = false } = (await this.schema()) ?? {};
    if (pending.length > 0) {
      const count = pending.length === 1 ? 'a migration' : `${pending.length} migrations`;
      const advice = isOfApp ? APP_MIGRATES : 'run agent-sessions migrate.';
      throw new ConfigurationError([`${this.place}: the tables lack ${count}; ${advice}`]);
    }
    return this.#open(false);
  }

  /** Opens the store, and runs migrations. */
  openStore(): Promise<SessionStorage> {
    return this.#open(true);
  }

  /** Undefined before the store is open, and where nothing is noted. */
  get audit(): CommandAudit | undefined {
    return this.#audit;
  }

  async #open(creates: boolean): Promise<SessionStorage> {
    const audit = readAuditConfig(this.#options, this.#io.env);
    const chosen = await provideStorage(this.settings, creates);
    this.#chosen = chosen;
    await chosen.open();
    if (audit) this.#audit = await CommandAudit.begin(audit, this.command, chosen.storage, this.output);
    return chosen.storage;
  }

  /** The service over the store. To look at sessions does not keep them alive. */
  async sessions(): Promise<SessionService> {
    const { history, ttl, limits } = this.settings;
    const storage = await this.storage();
    this.#service ??= new SessionService({
      storage,
      history,
      ttl: { enabled: false, ...ttl, refreshOnRead: false },
      limits,
    });
    return this.#service;
  }

  async close(): Promise<void> {
    await this.#service?.close();
    await this.#chosen?.storage.close();
  }
}
