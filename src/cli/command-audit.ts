import { randomBytes } from 'node:crypto';
import { userInfo } from 'node:os';
import type { AuditConfig } from '../config/audit-settings.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import type { AuditOptions } from '../sessions/transport/audit/audit-options.js';
import { type AuditAnswer, type AuditRecord, auditRecord } from '../sessions/transport/audit/audit-record.js';
import { keepAudit } from '../sessions/transport/audit/audit-table.js';
import { EXIT, describeFailure, withoutSecrets } from './failures.js';
import type { Output } from './output.js';

/** What the audit says of a command: its name, those of its options, and ids. Nothing else that was given. */
export interface AuditedCommand {
  readonly operation: string;
  readonly appName?: string | undefined;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
}

/**
 * Notes a command where the app notes its requests: before it begins, and how it has ended.
 *
 * @example
 * const audit = await CommandAudit.begin(config, command, storage, output);
 * await audit.end(signal);
 */
export class CommandAudit {
  readonly #callId = randomBytes(9).toString('base64url');
  readonly #by = { id: userName(), from: 'cli' } as const;

  private constructor(
    private readonly config: AuditConfig,
    private readonly command: AuditedCommand,
    private readonly storage: SessionStorage,
    private readonly output: Output,
  ) {}

  /** Throws if it cannot be noted. */
  static async begin(
    ...given: [config: AuditConfig, command: AuditedCommand, storage: SessionStorage, output: Output]
  ): Promise<CommandAudit> {
    const audit = new CommandAudit(...given);
    await audit.#note({ outcome: 'allowed' });
    return audit;
  }

  /** For what a page asks while the command runs. */
  get ofPage(): AuditOptions {
    return {
      sink: async (records) => this.#write(records.map((record) => ({ ...record, by: this.#by }))),
      onFailure: 'refuse',
    };
  }

  /** What is done is done: that this cannot be noted is said, and no failure. */
  async end(signal: AbortSignal, error?: unknown): Promise<void> {
    try {
      await this.#note(toAuditAnswer(signal, error));
    } catch (failure) {
      this.output.note(`The audit does not say how this ended: ${withoutSecrets(String(failure))}`);
    }
  }

  async #note(answer: AuditAnswer): Promise<void> {
    await this.#write([auditRecord({ ...this.command, by: this.#by }, { ...answer, callId: this.#callId })]);
  }

  async #write(records: readonly AuditRecord[]): Promise<void> {
    const { sink, keepDays } = this.config;
    if (sink === 'table') return keepAudit(this.storage, records, keepDays);
    for (const audit of records) {
      this.output.note(this.output.isJson ? JSON.stringify({ audit }) : `audit ${JSON.stringify(audit)}`);
    }
  }
}

function toAuditAnswer(signal: AbortSignal, error: unknown): AuditAnswer {
  if (error === undefined) return { outcome: 'done' };
  const { exitCode, told } = describeFailure(error, signal);
  return exitCode === EXIT.done ? { outcome: 'done' } : { outcome: 'failed', code: told?.code ?? 'INTERRUPTED' };
}

/** A container may run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}
