import type { SessionService } from '../sessions/session.service.js';
import type { SessionKey } from '../sessions/domain/values/ids.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import { toConversationLines, shortenedLines } from './conversation/conversation-lines.js';
import {
  type SummaryInput,
  type SummaryInputLimits,
  coveredBy,
  readSummaryInput,
} from './conversation/summary-input.js';
import { branchSummaryEvent } from './branch-summaries.js';
import { branchInputOf, readUncoveredBranch } from './conversation/branch-input.js';
import { type ReadRequest, readLastRequest } from './conversation/last-request.js';
import { appendSummary } from './append-summary.js';
import type { DueCheck } from './summary-due.js';
import { cappedText } from './models/capped-text.js';
import { isCount } from '../sessions/domain/values/input-checks.js';
import { isGiven } from '../sessions/domain/values/json-value.js';
import { toErrorMessage } from '../sessions/domain/errors/thrown-text.js';
import { callWithin } from '../sessions/domain/process/timeouts.js';
import type { LastRequest, SummaryAnswer, SummaryModel, SummaryRequest } from './models/summary-model.js';
import { Semaphore } from '../sessions/storage/semaphore.js';
import { tracedWork } from '../sessions/tracing/trace.js';
import {
  HEADING_LINES,
  type SessionSummary,
  type SummaryDraft,
  keptParts,
  summaryEvent,
  toSessionSummary,
  textOfSummary,
} from './session-summary.js';
import { SummaryFailedError } from './summary-errors.js';
import type { AfterSummary, BeforeSummary, SummaryHooks } from './summary-hooks.js';
import { type SummaryPrompt, TASK_VERSION, taskAfter } from './summary-prompt.js';

export interface SummaryWriterOptions extends Omit<SummaryInputLimits, 'isForced'> {
  readonly sessions: SessionService;
  readonly storage: SessionStorage;
  readonly model: SummaryModel;
  readonly prompt: SummaryPrompt;
  /** For one more part of a summary. */
  readonly segmentPrompt: SummaryPrompt;
  readonly segments: number;
  readonly hooks: SummaryHooks;
  readonly check: Pick<DueCheck, 'isBranchDue'>;
  readonly maxSummaryLength: number;
  /** How many summaries are written at the same time, automatic and requested ones together. */
  readonly concurrency: number;
  readonly timeoutMs: number;
  /** Called if a listener to stored summaries fails. */
  readonly onListenerError: (error: unknown) => void;
}

/** Which summary to write. */
export interface WantedSummary {
  readonly isForced: boolean;
  /** Of which branch; missing for the whole conversation. If it is not forced, the writer checks whether one of a branch is due. */
  readonly branch?: string | undefined;
}

export type WritingOutcome =
  | {
      readonly kind: 'written';
      readonly summary: SessionSummary;
      /** Whether there is more to summarise than a model gets at once. */
      readonly isPart: boolean;
    }
  /** A hook cancelled it, or the due events have no text. */
  | { readonly kind: 'cancelled' }
  /** Nothing is left to summarise. */
  | { readonly kind: 'nothing' }
  /** The input was rewound, redacted or summarised in the meantime. */
  | { readonly kind: 'overtaken' };

const NOTHING = { kind: 'nothing' } as const;
const OVERTAKEN = { kind: 'overtaken' } as const;
const CANCELLED = { kind: 'cancelled' } as const;

/** Writes one summary: reads the events, calls the hooks and the model, checks the answer and appends it. */
export class SummaryWriter {
  readonly #semaphore: Semaphore;

  constructor(private readonly options: SummaryWriterOptions) {
    this.#semaphore = new Semaphore(options.concurrency);
  }

  write(key: SessionKey, wanted: WantedSummary, signal: AbortSignal): Promise<WritingOutcome> {
    const write = (): Promise<WritingOutcome> => this.#write(key, wanted, signal);
    return this.#semaphore.run(() => tracedWork('summary', () => key, write), signal);
  }

  async #write(key: SessionKey, wanted: WantedSummary, signal: AbortSignal): Promise<WritingOutcome> {
    const { branch } = wanted;
    const input = await this.#inputOf(key, wanted, signal);
    if (!input) return NOTHING;
    const kept = branch === undefined ? keptParts(input.previous, this.options.segments) : [];
    const prompt = kept.length > 0 ? this.options.segmentPrompt : this.options.prompt;
    const request = await this.#requestFor({ key, branch }, input, { prompt, isSegment: kept.length > 0 }, signal);
    if (!request) return CANCELLED;
    const startedAt = performance.now();
    const answer = await this.#runWithTimeout('', signal, (ended) =>
      this.options.model.summarize(request, { signal: ended }),
    );
    const answered = this.#checkedAnswer(answer);
    const promptVersion = request.lastRequest ? TASK_VERSION : prompt.version;
    const draft = this.#draftOf(input, promptVersion, answer, performance.now() - startedAt);
    const text = await this.#textAfterHooks({ key, branch, text: answered, toSeq: draft.toSeq }, signal);
    if (text === undefined) return CANCELLED;
    // If the lease is lost, another process writes the summary.
    signal.throwIfAborted();
    const event = branch === undefined ? summaryEvent(text, draft, kept) : branchSummaryEvent(text, draft, branch);
    const stored = await appendSummary(this.options.sessions, input.record, event);
    if (!stored) return OVERTAKEN;
    const summary = toSessionSummary(key.sessionId, stored, stored.seq);
    this.options.hooks.stored(key, summary, this.options.onListenerError);
    return { kind: 'written', summary, isPart: input.isPart };
  }

  async #inputOf(
    key: SessionKey,
    { isForced, branch }: WantedSummary,
    signal: AbortSignal,
  ): Promise<SummaryInput | undefined> {
    const { storage, check } = this.options;
    const limits = { ...this.options, isForced };
    if (branch === undefined) return readSummaryInput(storage, key, limits);
    const uncovered = await readUncoveredBranch(storage, key, branch);
    const input = uncovered && branchInputOf(uncovered, limits);
    return input && (isForced || (await check.isBranchDue(input, signal))) ? input : undefined;
  }

  async #requestFor(
    of: Pick<BeforeSummary, 'key' | 'branch'>,
    input: SummaryInput,
    { prompt, isSegment }: { readonly prompt: SummaryPrompt; readonly isSegment: boolean },
    signal: AbortSignal,
  ): Promise<SummaryRequest | undefined> {
    const { hooks, model, maxInputLength, maxSummaryLength } = this.options;
    const { events, previous } = input;
    const previousSummary = previous && textOfSummary(previous);
    const lines = shortenedLines(toConversationLines(events), maxInputLength);
    const before = { ...of, events, conversation: lines, previousSummary };
    const conversation = await this.#runWithTimeout('a hook before it failed: ', signal, () => hooks.before(before));
    if (!conversation || conversation.length === 0) return undefined;
    const parts = { conversation, previousSummary, maxSummaryLength };
    // What a hook took out must not reach the model in another way.
    const isWanted = model.extendsLastRequest === true && conversation === lines;
    const last = isWanted ? await readLastRequest(this.options, input, of.branch) : undefined;
    return {
      ...parts,
      isSegment,
      prompt: prompt.textFor(parts),
      ...(last && { lastRequest: lastRequestOf(last, { isSegment, maxSummaryLength }) }),
    };
  }

  /** Ends in time, even if the model or the hook ignores its signal. */
  async #runWithTimeout<Result>(
    what: string,
    outer: AbortSignal,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const { model, timeoutMs } = this.options;
    try {
      return await callWithin({ limitMs: timeoutMs, signal: outer }, work);
    } catch (error) {
      outer.throwIfAborted();
      throw new SummaryFailedError(model.name, what + toErrorMessage(error), { cause: error });
    }
  }

  /** A custom model may return anything. */
  #checkedAnswer(answer: SummaryAnswer | string | null | undefined): string {
    const { model } = this.options;
    if (typeof answer === 'string') {
      throw new SummaryFailedError(model.name, 'it answered with a string, where { text } is wanted');
    }
    const { text, unfinished } = answer ?? {};
    if (isGiven(unfinished)) throw new SummaryFailedError(model.name, `it did not finish (${unfinished})`);
    return this.#cleaned(text, 'its answer was empty');
  }

  async #textAfterHooks(answer: AfterSummary, signal: AbortSignal): Promise<string | undefined> {
    const { hooks } = this.options;
    const text = await this.#runWithTimeout('a hook after it failed: ', signal, () => hooks.after(answer));
    return text === undefined ? undefined : this.#cleaned(text, 'a hook left nothing of its answer');
  }

  #cleaned(text: unknown, reason: string): string {
    const { model, maxSummaryLength } = this.options;
    const cleaned = cleanText(text, maxSummaryLength);
    if (cleaned === undefined) throw new SummaryFailedError(model.name, reason);
    return cleaned;
  }

  #draftOf(
    { record, events, left, isPart, previous }: SummaryInput,
    promptVersion: string,
    answer: SummaryAnswer,
    durationMs: number,
  ): SummaryDraft {
    const { model } = this.options;
    const { inputTokens, outputTokens } = answer;
    const { fromSeq, toSeq } = coveredBy({ events, previous });
    return {
      fromSeq,
      toSeq,
      model: model.name,
      promptVersion,
      originalEventCount: events.length + left + (previous ? 1 : 0),
      compressedEventCount: 1 + left,
      durationMs: Math.round(durationMs),
      ...(!isPart && { readToSeq: record.lastSeq }),
      ...(isCount(inputTokens) && { inputTokens }),
      ...(isCount(outputTokens) && { outputTokens }),
    };
  }
}

function lastRequestOf(
  { keptFrom, ...last }: ReadRequest,
  how: { readonly isSegment: boolean; readonly maxSummaryLength: number },
): LastRequest {
  return { ...last, task: taskAfter({ keptFrom, ...how }) };
}

const CONTROL_CHARACTERS = /[^\P{Cc}\n\t]/gu;
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;
const NOT_SPACE = /\S/g;

/** Removes control characters and headings, and cuts the text; `undefined` if nothing visible is left. */
export function cleanText(answer: unknown, maxLength: number): string | undefined {
  if (typeof answer !== 'string') return undefined;
  const lines = answer.replaceAll(/\r\n?/g, '\n').replaceAll(CONTROL_CHARACTERS, '');
  const text = withoutHeadings(lines.toWellFormed().trim());
  const capped = cappedText(text, maxLength);
  return VISIBLE.test(text) && capped !== '' ? capped : undefined;
}

/** A model may repeat the heading of the previous summary. Without this, headings would accumulate. */
function withoutHeadings(text: string): string {
  let start = 0;
  for (;;) {
    const heading = HEADING_LINES.find((line) => text.startsWith(line, start));
    if (heading === undefined) return text.slice(start);
    NOT_SPACE.lastIndex = start + heading.length;
    start = NOT_SPACE.exec(text)?.index ?? text.length;
  }
}
