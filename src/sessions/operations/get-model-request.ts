import { readableEvent } from '../domain/stored/damaged-event.js';
import { InvalidInputError } from '../domain/errors/errors.js';
import type { LoggedEvent } from '../domain/event/event.js';
import { type SessionKey, checkedSessionKey } from '../domain/values/ids.js';
import { optionalCount } from '../domain/values/input-checks.js';
import { type Answer, isAnswer } from '../domain/event/event-inspection.js';
import { textHash } from '../domain/event/model-request.js';
import {
  type ModelRequestReport,
  type RequestText,
  isOfSameAgent,
  toRequestReport,
} from '../domain/event/request-report.js';
import { retentionProblem } from '../domain/stored/session-record.js';
import { DamagedDataError } from '../domain/stored/stored-json.js';
import type { SessionEnvironment } from '../session-environment.js';
import { commonBeginning } from './common-beginning.js';
import { IncarnationReads } from './incarnation-reads.js';
import { PageReader } from './list-events.js';

/** The answer of a model, and the request to compare with. */
export interface ModelRequestQuery extends SessionKey {
  /** The event that is the answer. */
  readonly seq: number;
  /** The answer to the request to compare with. Default: the agent's one before, if it is among the 200 events before. */
  readonly since?: number | undefined;
  /** The last event that the caller has seen: an answer of `readsOf` has it, also if it comes from a replica. Default: none. */
  readonly minSeq?: number | undefined;
}

/** Says what a model was given for an answer; `undefined` if the event says nothing about that. It renews nothing. */
export async function getModelRequest(
  env: SessionEnvironment,
  request: ModelRequestQuery,
): Promise<ModelRequestReport | undefined> {
  const key = checkedSessionKey(request);
  const seq = requiredSeq(request.seq, 'seq');
  const since = request.since === undefined || request.since === null ? undefined : requiredSeq(request.since, 'since');
  const reads = new IncarnationReads(env.storage, key, undefined);
  const event = await readAnswer(reads, seq, 'seq');
  if (!isAnswer(event)) return undefined;
  const other = await otherAnswer(env, reads, event, since);
  const report = toRequestReport(event, other, await readGivenTexts(env, key, event));
  if (!other || !report.change) return report;
  const stableUntilSeq = await commonBeginning(reads, other.modelRequest.given, report.given);
  return { ...report, change: { ...report.change, stableUntilSeq } };
}

/** What a model was given beside events. */
export async function readGivenTexts(
  env: SessionEnvironment,
  key: SessionKey,
  { modelRequest: { promptHash, toolsHash } }: Answer,
): Promise<Pick<ModelRequestReport, 'instructions' | 'tools'>> {
  const [instructions, tools] = await Promise.all([promptHash, toolsHash].map((hash) => readText(env, key, hash)));
  return { instructions, tools };
}

/** How far back to look: few events first, since a model is usually asked again soon. */
const LOOKED_AT = [20, 180];

/**
 * The last answer before an event.
 *
 * @param isMeant which one. Default: any
 */
export async function lastAnswerBefore(
  { limits }: SessionEnvironment,
  reads: IncarnationReads,
  before: number,
  isMeant: (answer: Answer) => boolean = () => true,
): Promise<Answer | undefined> {
  const reader = new PageReader(reads, 'desc');
  let to = before - 1;
  for (const size of to > 0 ? LOOKED_AT : []) {
    const page = await reader.read({ from: 1, to }, size, limits.maxPageBytes);
    const found = page.map(readableEvent).find((event): event is Answer => isAnswer(event) && isMeant(event));
    const end = reader.endOf({ from: 1, to }, page);
    if (found || end === undefined) return found;
    to = end - 1;
  }
  return undefined;
}

async function otherAnswer(
  env: SessionEnvironment,
  reads: IncarnationReads,
  answer: Answer,
  since: number | undefined,
): Promise<Answer | undefined> {
  if (since === undefined) {
    return lastAnswerBefore(env, reads, answer.seq, (other) => isOfSameAgent(other, answer));
  }
  const other = await readAnswer(reads, since, 'since');
  if (isAnswer(other)) return other;
  throw new InvalidInputError('must be an event that says what its model was given', 'since');
}

async function readAnswer(reads: IncarnationReads, seq: number, path: string): Promise<LoggedEvent> {
  const { record, events } = await reads.read({ window: { ranges: [{ from: seq, to: seq }], limit: 1 } });
  const stored = events.find((event) => event.seq === seq);
  if (stored) return readableEvent(stored);
  throw retentionProblem(record, seq, path) ?? new InvalidInputError('must be the number of an event', path);
}

async function readText(
  { requestTexts }: SessionEnvironment,
  key: SessionKey,
  hash: string | undefined,
): Promise<RequestText | undefined> {
  if (hash === undefined) return undefined;
  const text = await requestTexts.read(key, hash);
  if (text === undefined) return { hash, isKept: false };
  // Another text must not pass for what the model was given.
  if (textHash(text) !== hash) throw new DamagedDataError('instructions or tools of a model request');
  return { hash, isKept: true, value: JSON.parse(text) as unknown };
}

function requiredSeq(value: unknown, path: string): number {
  const seq = optionalCount(value, path);
  if (seq) return seq;
  throw new InvalidInputError('must be the number of an event', path);
}

/** What clients see that may not see instructions and tools. */
export function withoutPrompts({ instructions, tools, ...report }: ModelRequestReport): ModelRequestReport {
  return {
    ...report,
    ...(instructions && { instructions: withoutValue(instructions) }),
    ...(tools && { tools: withoutValue(tools) }),
  };
}

function withoutValue({ hash, isKept }: RequestText): RequestText {
  return { hash, isKept };
}
