import { randomBytes } from 'node:crypto';
import {
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  ServiceUnavailableException,
} from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { ConfigurationError } from '../../../config/configuration-error.js';
import { toErrorMessage } from '../../domain/errors/thrown-text.js';
import { callWithin } from '../../domain/process/timeouts.js';
import type { SessionEnvironment } from '../../session-environment.js';
import { environmentsIn } from '../environments-in.js';
import { RequestNotes } from '../request-notes.js';
import type { AuditOptions, AuditSink } from './audit-options.js';
import { type AuditQuestion, type AuditRecord, auditRecord, endIn, refusalIn } from './audit-record.js';
import { keepAudit } from './audit-table.js';
import { type AuditedCall, type EndOfCall, keepEnd, workFor } from './audited-call.js';

const AT_ONCE = 500;
const MOST_WAITING = 10_000;
const LIMIT_MS = 10_000;

interface WaitingRecord {
  readonly record: AuditRecord;
  readonly done: () => void;
  readonly fail: (error: unknown) => void;
}

/** How an answer is noted. */
export interface AuditUse {
  /** `refusals`: what is allowed is a part of what was noted before. `once`: it is noted once for each request. Default: `all`. */
  readonly notes?: 'all' | 'once' | 'refusals' | undefined;
  /** Tells what comes of what is allowed. */
  readonly call?: AuditedCall | undefined;
  /** Without a call. `done`: the answer is all that is asked for. Default: `allowed`, since nobody tells the end. */
  readonly outcome?: 'done' | 'allowed' | undefined;
}

/**
 * Notes who asked for what, whether it was allowed, and what came of it.
 *
 * @example
 * const trail = new AuditTrail({ sink: 'log' });
 * await trail.follow({ operation: 'getSession', action: 'read', target: 'session', ...key, request }, () => ask());
 */
export class AuditTrail implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #logger = new Logger('SessionAudit');
  readonly #sink: AuditSink | undefined;
  readonly #refuses: boolean;
  readonly #seen = new RequestNotes();
  #waiting: WaitingRecord[] = [];
  #writing: Promise<void> | undefined;
  #isFailing = false;
  #written = 0;
  #lost = 0;

  /**
   * @param options Default: nothing is noted.
   * @param modules of the app, to find the store for `table`
   */
  constructor(
    private readonly options?: AuditOptions,
    private readonly modules?: ModuleRef,
  ) {
    this.#sink = this.#sinkOf(options);
    this.#refuses = options?.onFailure === 'refuse';
  }

  /** Fails at the start rather than at each request. */
  onApplicationBootstrap(): void {
    if (this.options?.sink === 'table') void this.#environment;
  }

  /** Since the process began. */
  get counts(): { readonly written: number; readonly lost: number } {
    return { written: this.#written, lost: this.#lost };
  }

  /** Asks, and notes the answer: at once, or with what comes of it. */
  async follow<Result>(
    question: AuditQuestion,
    ask: () => Promise<Result>,
    { notes = 'all', call, outcome = 'allowed' }: AuditUse = {},
  ): Promise<Result> {
    if (!this.#sink) return ask();
    let result: Result;
    try {
      result = await ask();
    } catch (error) {
      await this.#note(auditRecord(question, refusalIn(error))).catch(() => undefined);
      throw error;
    }
    if (notes === 'refusals' || (notes === 'once' && this.#isSeen(question))) return result;
    const work = workFor(question.request);
    if (call) keepEnd(call, await this.#begin(question, call.isStream));
    else if (work && outcome === 'allowed') work.ends.push(await this.#begin(question, work.isStream));
    else await this.#note(auditRecord(question, { outcome }));
    return result;
  }

  /** Notes what comes of work that no rule is asked about. */
  async call<Result>(question: AuditQuestion, work: () => Promise<Result>): Promise<Result> {
    if (!this.#sink) return work();
    const end = await this.#begin(question);
    try {
      const result = await work();
      end('done');
      return result;
    } catch (error) {
      end('failed', error);
      throw error;
    }
  }

  /** Waits for the records that are on their way. */
  async onApplicationShutdown(): Promise<void> {
    await this.#writing;
  }

  /** What may not begin unnoted, or goes on for long, is noted at once. Its end is noted in the background. */
  async #begin(question: AuditQuestion, isStream = false): Promise<EndOfCall> {
    const callId = isStream || this.#refuses ? randomBytes(9).toString('base64url') : undefined;
    if (callId !== undefined) await this.#note(auditRecord(question, { outcome: 'allowed', callId }));
    return (outcome, error) => {
      const isKnown = callId !== undefined && (isStream ? outcome !== 'failed' : outcome === 'allowed');
      if (isKnown) return;
      this.#note(auditRecord(question, { ...endIn(outcome, error), callId })).catch(() => undefined);
    };
  }

  #isSeen({ request, action, target, appName, userId, sessionId }: AuditQuestion): boolean {
    return !this.#seen.add(request, JSON.stringify([action, target, appName, userId, sessionId]));
  }

  /** Waits for the record only where nobody may go on without. */
  async #note(record: AuditRecord): Promise<void> {
    if (this.#waiting.length >= MOST_WAITING) {
      this.#lose(1, new Error(`${MOST_WAITING} records are waiting`));
      if (this.#refuses) throw unavailable();
      return;
    }
    const written = new Promise<void>((done, fail) => this.#waiting.push({ record, done, fail }));
    this.#writing ??= this.#writeAll();
    if (this.#refuses) await written;
    else written.catch(() => undefined);
  }

  async #writeAll(): Promise<void> {
    // Those of one moment are written together.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#write(this.#waiting.splice(0, AT_ONCE));
    this.#writing = undefined;
  }

  async #write(some: readonly WaitingRecord[]): Promise<void> {
    try {
      await callWithin({ limitMs: LIMIT_MS }, async () => this.#sink?.(some.map(({ record }) => record)));
      this.#written += some.length;
      this.#isFailing = false;
      for (const { done } of some) done();
    } catch (error) {
      this.#lose(some.length, error);
      for (const { fail } of some) fail(unavailable());
    }
  }

  #lose(count: number, error: unknown): void {
    this.#lost += count;
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#logger.error(`Records of the audit are lost (${this.#lost} so far): ${toErrorMessage(error)}`);
  }

  #sinkOf({ sink, keepDays }: Partial<AuditOptions> = {}): AuditSink | undefined {
    if (sink === 'log') return (records) => this.#log(records);
    if (sink === 'table') {
      return (records) => {
        const { tasks, storage } = this.#environment;
        // The store is closed after what is tracked.
        return tasks.track(keepAudit(storage, records, keepDays));
      };
    }
    return sink;
  }

  /** Of the sessions. */
  get #environment(): SessionEnvironment {
    const [environment] = environmentsIn(this.modules);
    if (environment) return environment;
    throw new ConfigurationError([
      "`audit: { sink: 'table' }` needs the store of the sessions: import SessionsModule, or give a function.",
    ]);
  }

  #log(records: readonly AuditRecord[]): void {
    for (const record of records) this.#logger.log(JSON.stringify(record));
  }
}

function unavailable(): Error {
  return new ServiceUnavailableException('It cannot be noted who asks for this, so nobody may. Try again.');
}
