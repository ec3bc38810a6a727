import { Logger } from '@nestjs/common';
import { checkOptionNames } from '../config/option-checks.js';
import { DEFAULT_LIMITS } from '../config/session-settings.js';
import { MOST_PER_READ } from '../sessions/domain/stored/byte-budget.js';
import { InvalidInputError, SessionNotFoundError } from '../sessions/domain/errors/errors.js';
import { isSummary } from '../sessions/domain/event/event-inspection.js';
import { type SessionKey, checkedSessionKey, nameProblem } from '../sessions/domain/values/ids.js';
import { readableEvent } from '../sessions/domain/stored/damaged-event.js';
import { loggedEvent } from '../sessions/domain/stored/stored-json.js';
import { optionalCount } from '../sessions/domain/values/input-checks.js';
import { fieldNames, requestCheck, requireOptionsOf } from '../sessions/domain/values/request-fields.js';
import { type SessionReference, referencedKey } from '../sessions/domain/session/session.js';
import { toErrorMessage } from '../sessions/domain/errors/thrown-text.js';
import { environmentBehind } from '../sessions/service-environment.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import { AppendHook } from './append-hook.js';
import { summariesOfBranch, summaryForBranch } from './branch-summaries.js';
import { branchInputOf, readUncoveredBranch } from './conversation/branch-input.js';
import { type SummaryInputLimits, coveredBy, readSummaryInput } from './conversation/summary-input.js';
import { toConversationLines } from './conversation/conversation-lines.js';
import { DueBranches } from './due-branches.js';
import { DueCheck } from './summary-due.js';
import { cappedText } from './models/capped-text.js';
import { PendingCallCache } from './pending-call-cache.js';
import { RequestedSummaries } from './requested-summaries.js';
import { type SessionSummary, toSessionSummary } from './session-summary.js';
import { type SummarizerDependencies, type SummarizerOptions, checkedOptions } from './summarizer-options.js';
import { type DueTrigger, SummaryAgenda, assertTrigger } from './summary-agenda.js';
import { SummaryFailedError } from './summary-errors.js';
import { SummaryHooks } from './summary-hooks.js';
import type { SummaryOutlook } from './summary-outlook.js';
import { DEFAULT_SEGMENT_PROMPT, SummaryPrompt } from './summary-prompt.js';
import { SummaryWorker } from './summary-worker.js';
import { SummaryWriter } from './summary-writer.js';

/** The request of `createSessionSummary`. */
export interface CreateSummaryRequest {
  /** The session, or just `{ id, appName, userId }`. */
  readonly session: SessionReference;
  /** Whether to write a summary even if no threshold is met. */
  readonly force?: boolean | undefined;
  /**
   * A branch of a run, such as `root.researcher`: the summary is one of what this branch sees, and only its readers get it. Without `force`, it
   * is due if the events that neither it nor the summary of the whole covers meet the thresholds, or those of its own `branchEvents`.
   */
  readonly branch?: string | undefined;
  /** What `hooks.onDue` said, so that what one event made due is due here as well. It writes nothing if a summary came since. */
  readonly dueSince?: DueTrigger | undefined;
  /** Aborts the request. No summary is written then. */
  readonly signal?: AbortSignal | undefined;
}

/** The request of `getSessionSummary`. */
export interface GetSummaryRequest extends SessionKey {
  /** The summary that readers of this branch get: that of the branch, or else that of the whole conversation. */
  readonly branch?: string | undefined;
}

/** The request of `listSummaries`. */
export interface ListSummariesRequest extends SessionKey {
  /** Only summaries of this branch. Without it: those of the whole conversation. */
  readonly branch?: string | undefined;
  /** Only summaries after this event. */
  readonly afterSeq?: number | undefined;
  /** Maximum number of summaries. Default: all. */
  readonly limit?: number | undefined;
}

/** Automatic summaries of this process that wait or run; stored summaries and failures, requested ones included. */
export interface SummaryCounts {
  readonly waiting: number;
  readonly running: number;
  readonly stored: number;
  readonly failed: number;
}

/** The fields of requests with more than the key of a session. */
const OF_SUMMARY = fieldNames<GetSummaryRequest>({ appName: true, userId: true, sessionId: true, branch: true });

const REQUEST_FIELDS = {
  createSessionSummary: fieldNames<CreateSummaryRequest>({
    session: true,
    force: true,
    branch: true,
    dueSince: true,
    signal: true,
  }),
  getSessionSummary: OF_SUMMARY,
  outlook: OF_SUMMARY,
  listSummaries: fieldNames<ListSummariesRequest>({
    branch: true,
    appName: true,
    userId: true,
    sessionId: true,
    afterSeq: true,
    limit: true,
  }),
} as const;

const checkedFields = requestCheck(REQUEST_FIELDS);

const MAX_REASON_LENGTH = 500;
const NO_THRESHOLD =
  'All thresholds are 0 and there are no conditions: no summary is written automatically. If this is intended, set autoSummarize to false.';

/**
 * Keeps conversations short: if a threshold is met after an append, a summary replaces the oldest events in the view. The
 * events stay in the log, and no append waits for a summary.
 *
 * The path of an automatic summary: `AppendHook` (is one due?), `SummaryAgenda` (the durable queue), `SummaryWorker` (one
 * task and one lease per session), `SummaryWriter` (events, model, checks), `appendSummary`.
 *
 * @example
 * const summaries = new SummarizerSessionManager({ sessions }, { events: 40, model });
 * await summaries.createSessionSummary({ session, force: true });
 */
export class SummarizerSessionManager {
  /** Hooks around the writing of summaries. */
  readonly hooks = new SummaryHooks();
  /** Interval of the sweep in milliseconds; 0 if there is none. */
  readonly sweepIntervalMs: number;
  readonly #logger = new Logger(SummarizerSessionManager.name);
  readonly #storage: SessionStorage;
  readonly #check: DueCheck;
  readonly #inputLimits: SummaryInputLimits;
  readonly #hook: AppendHook;
  readonly #agenda: SummaryAgenda;
  readonly #worker: SummaryWorker;
  readonly #requested: RequestedSummaries;
  readonly #shutdownMs: number;
  #stored = 0;
  #failed = 0;

  constructor(dependencies: SummarizerDependencies, options?: SummarizerOptions) {
    checkOptionNames(requireOptionsOf('SummarizerSessionManager', dependencies, 'sessions'), { sessions: true });
    const { sessions } = dependencies;
    const { storage } = environmentBehind(sessions);
    const { prompt, segmentPrompt = DEFAULT_SEGMENT_PROMPT, ...checked } = checkedOptions(options);
    const timeoutMs = checked.timeoutSeconds * 1000;
    this.#storage = storage;
    this.#shutdownMs = checked.shutdownSeconds * 1000;
    const writesDueOnes = checked.autoSummarize && !checked.leaveToOthers;
    this.sweepIntervalMs = writesDueOnes ? checked.sweepIntervalSeconds * 1000 : 0;

    const warn = (what: string, error: unknown): void => this.#warn(what, error);
    const logErrors = (what: string) => (error: unknown) => this.#log(what, error);
    const common = { ...checked, sessions, storage, timeoutMs, warn, hooks: this.hooks };
    const pendingCalls = new PendingCallCache();
    const check = (this.#check = new DueCheck(common));
    const branches = new DueBranches(common);
    this.#inputLimits = { keepRecentEvents: checked.keepRecentEvents, maxInputLength: checked.maxInputLength };
    const writer = new SummaryWriter({
      ...common,
      check,
      prompt: new SummaryPrompt(prompt),
      segmentPrompt: new SummaryPrompt(segmentPrompt, 'segmentPrompt'),
      onListenerError: logErrors('A listener to stored summaries failed'),
      onPendingCall: pendingCalls.add.bind(pendingCalls),
    });
    this.#agenda = new SummaryAgenda({
      agenda: storage.agenda,
      storesTriggers: checked.leaveToOthers || checked.threshold.isOfCounts !== true,
      leaveToOthers: checked.leaveToOthers,
      onError: (error) => warn('A session could not be put on the agenda', error),
    });
    const agenda = this.#agenda;
    const onLeaseError = logErrors('The lease of a summary failed');
    this.#worker = new SummaryWorker({ ...common, agenda, check, branches, writer, onLeaseError });
    const worker = this.#worker;
    const onDueListenerError = logErrors('A listener to due sessions failed');
    this.#hook = new AppendHook({ ...common, check, branches, agenda, worker, pendingCalls, onDueListenerError });
    const [modelName, limitMs] = [checked.model.name, 2 * timeoutMs];
    this.#requested = new RequestedSummaries({ worker, agenda, modelName, limitMs });

    this.hooks.onStored(() => void this.#stored++);
    if (checked.autoSummarize && !checked.hasThreshold) this.#logger.warn(NO_THRESHOLD);
    if (checked.autoSummarize) this.#hook.start();
  }

  /**
   * Summarises a session now: if a summary is due, or with `force` all events except the newest ones. Returns the new
   * summary; `undefined` if there was nothing to do. Throws `SummaryFailedError` if the model fails.
   *
   * @example const summary = await summaries.createSessionSummary({ session, force: true });
   */
  async createSessionSummary(request: CreateSummaryRequest): Promise<SessionSummary | undefined> {
    const { session, force = false, dueSince, signal, ...of } = checkedFields('createSessionSummary', request);
    const key = referencedKey(session);
    if (dueSince !== undefined) assertTrigger(dueSince);
    const branch = of.branch ?? dueSince?.branch;
    assertBranch(branch);
    if (dueSince && branch !== dueSince.branch) throw new InvalidInputError('is not of this branch', 'dueSince');
    if (!(await this.#storage.read({ key }))) throw new SessionNotFoundError(key.sessionId);
    try {
      return await this.#requested.create(key, { force, branch, dueSince, signal });
    } catch (error) {
      if (error instanceof SummaryFailedError) this.#failed++;
      throw error;
    }
  }

  /**
   * Returns the summary that readers of a session see, or those of a branch, if there is one. Its `branch` says which one it is.
   * @example const summary = await summaries.getSessionSummary({ appName: 'shop', userId: 'ann', sessionId });
   */
  async getSessionSummary(request: GetSummaryRequest): Promise<SessionSummary | undefined> {
    const { branch, ...of } = checkedFields('getSessionSummary', request);
    const key = checkedSessionKey(of);
    assertBranch(branch);
    if (branch !== undefined) return summaryForBranch(this.#storage, key, branch);
    const read = await this.#storage.read({ key, withSummary: true });
    if (!read) throw new SessionNotFoundError(key.sessionId);
    return read.summary && toSessionSummary(key.sessionId, loggedEvent(read.summary), read.record.marks.summarySeq);
  }

  /**
   * Returns the summaries in the log, oldest first, also those that were replaced or rewound (`isInForce: false`).
   * @example const all = await summaries.listSummaries({ appName: 'shop', userId: 'ann', sessionId });
   */
  async listSummaries(request: ListSummariesRequest): Promise<SessionSummary[]> {
    const { afterSeq, limit, branch, ...of } = checkedFields('listSummaries', request);
    const key = checkedSessionKey(of);
    assertBranch(branch);
    const part = { afterSeq: optionalCount(afterSeq, 'afterSeq'), limit: optionalCount(limit, 'limit') };
    if (branch !== undefined) {
      const all = await summariesOfBranch(this.#storage, key, branch);
      return all.filter(({ seq }) => seq > (part.afterSeq ?? 0)).slice(0, part.limit);
    }
    const summaries = await readSummaries(this.#storage, { ...key, ...part });
    if (!summaries) throw new SessionNotFoundError(key.sessionId);
    return summaries;
  }

  /**
   * Says how far each threshold is, and what a summary would cover if it was made now, of the whole conversation or of a branch. Writes
   * nothing and calls no model.
   * @example const { isDue, thresholds } = await summaries.outlook({ appName: 'shop', userId: 'ann', sessionId });
   */
  async outlook(request: GetSummaryRequest): Promise<SummaryOutlook> {
    const { branch, ...of } = checkedFields('outlook', request);
    const key = checkedSessionKey(of);
    assertBranch(branch);
    const limits = { ...this.#inputLimits, isForced: true };
    const uncovered = branch === undefined ? undefined : await readUncoveredBranch(this.#storage, key, branch);
    const dueness = await (uncovered ? this.#check.branchDueness(uncovered) : this.#check.dueness(key));
    if (!dueness) throw new SessionNotFoundError(key.sessionId);
    const input = uncovered ? branchInputOf(uncovered, limits) : await readSummaryInput(this.#storage, key, limits);
    // Of events without text, no summary is written.
    const covers = input && toConversationLines(input.events).length > 0;
    return { ...dueness, ...(covers && { wouldCover: coveredBy(input) }) };
  }

  /**
   * Takes the due sessions from the agenda: after a crash, a failure of the model, or when a session is idle long enough.
   * Returns how many there were. The module calls it by schedule.
   * @example await summaries.sweep();
   */
  async sweep(signal?: AbortSignal): Promise<number> {
    return this.#worker.sweep(signal);
  }

  /** Counts for monitoring. */
  get counts(): SummaryCounts {
    return { ...this.#worker.counts, stored: this.#stored, failed: this.#failed };
  }

  /**
   * Waits until no automatic summary is written or checked in this process.
   * @example await summaries.whenIdle(); // in a test
   */
  async whenIdle(): Promise<void> {
    await this.#hook.whenIdle();
    await this.#worker.whenIdle();
    await this.#agenda.whenWritten();
  }

  /**
   * Accepts no more requests, and waits up to `shutdownSeconds` for running ones. Automatic summaries continue.
   * @example await summaries.finish(); // while the last requests are answered
   */
  async finish(): Promise<void> {
    await this.#requested.close(this.#shutdownMs);
  }

  /**
   * Starts nothing more, and waits up to `shutdownSeconds` for running summaries. The others stay on the agenda.
   * @example await summaries.close();
   */
  async close(): Promise<void> {
    await Promise.all([this.#closeBackground(), this.finish()]);
  }

  async #closeBackground(): Promise<void> {
    const endsAt = performance.now() + this.#shutdownMs;
    await this.#hook.close(this.#shutdownMs);
    await this.#worker.close(Math.max(0, endsAt - performance.now()));
    await this.#agenda.whenWritten();
  }

  #warn(what: string, error: unknown): void {
    this.#failed++;
    this.#log(what, error);
  }

  /** The message of a custom model may have any length, and many lines. */
  #log(what: string, error: unknown): void {
    const reason = toErrorMessage(error);
    this.#logger.warn(`${what}: ${cappedText(reason.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim(), MAX_REASON_LENGTH)}`);
  }
}

/** A branch is a name: a blank one would be that of nobody. */
function assertBranch(branch: string | undefined): void {
  const problem = branch === undefined ? undefined : nameProblem(branch);
  if (problem) throw new InvalidInputError(problem, 'branch');
}

/** Reads the summaries page by page; `undefined` if there is no such session. */
async function readSummaries(
  storage: SessionStorage,
  { afterSeq = 0, limit = Infinity, ...key }: ListSummariesRequest,
): Promise<SessionSummary[] | undefined> {
  const summaries: SessionSummary[] = [];
  // The window also holds messages of users, which may be large: hence pages by bytes.
  const { maxPageBytes: maxBytes } = DEFAULT_LIMITS;
  const size = MOST_PER_READ;
  let after = afterSeq;
  for (;;) {
    const window = { afterSeq: after, anchorsOnly: true, limit: size, keep: 'oldest', maxBytes } as const;
    const read = await storage.read({ key, window });
    if (!read) return undefined;
    const anchors = read.events.filter(({ seq, payload }) => seq > after && payload !== null).map(readableEvent);
    const { summarySeq } = read.record.marks;
    summaries.push(...anchors.filter(isSummary).map((event) => toSessionSummary(key.sessionId, event, summarySeq)));
    const last = read.events.at(-1)?.seq ?? 0;
    const isEnd = last <= after || (!read.isCut && read.events.length < size);
    if (isEnd || summaries.length >= limit) return summaries.slice(0, limit);
    after = last;
  }
}
