import { SessionNotFoundError } from '../domain/errors/errors.js';
import { type SessionKey, checkedSessionKey } from '../domain/values/ids.js';
import { optionalCount } from '../domain/values/input-checks.js';
import { checkedLimit, checkedOrder, leftAfter, LogCursor, type LogPageRequest } from '../domain/values/paging.js';
import type { SeqRange } from '../domain/values/seq-ranges.js';
import { type SeqPair, toSeqPairs } from '../domain/event/model-request.js';
import { type ViewDifference, givenDifference } from '../domain/event/request-difference.js';
import { estimateTokens } from '../domain/view/token-estimate.js';
import { type ViewItem, viewItem } from '../domain/view/view-item.js';
import { type GetSessionConfig, checkedViewConfig } from '../domain/view/view-config.js';
import { ViewDecisions } from '../domain/view/explained-view.js';
import { type ViewReason, isInView } from '../domain/view/view-reason.js';
import { type SessionEnvironment, isReadShorter, readFilter } from '../session-environment.js';
import { commonBeginning } from './common-beginning.js';
import { lastAnswerBefore } from './get-model-request.js';
import { IncarnationReads } from './incarnation-reads.js';
import { PageReader } from './list-events.js';
import { readerAt } from './read-moment.js';
import { type ReadView, type SessionReader, readView } from './read-view.js';

/** The view to explain, and the part of the log. */
export interface ExplainViewRequest extends SessionKey, LogPageRequest {
  /** Explains the view that `getSession` returns with this config. Default: the whole view. */
  readonly config?: GetSessionConfig | undefined;
  /** Explains the view as it was when this event was the last one. Default: as it is now. */
  readonly atSeq?: number | undefined;
  /** Compares with the view as it was when this event was the last one. */
  readonly since?: number | undefined;
  /** The first event to explain. */
  readonly fromSeq?: number | undefined;
  /** The last event to explain. */
  readonly toSeq?: number | undefined;
}

/** Why an event of the log is in the view, or not. */
export interface ExplainedEvent {
  readonly seq: number;
  readonly id: string;
  readonly author?: string | undefined;
  readonly inView: boolean;
  readonly reason: ViewReason;
  /** The event that decided: the summary, the rewind, the tool response, or the event with which the view begins. */
  readonly by?: number | undefined;
  /** An estimate of what the event costs as input of a model. */
  readonly tokens: number;
}

/** A page of a log, and for each event why it is in the view, or not. */
export interface ViewExplanation {
  /** In the requested order. */
  readonly events: readonly ExplainedEvent[];
  /** The whole view, not only of this page. */
  readonly view: {
    readonly events: number;
    /** An estimate. */
    readonly tokens: number;
    /** Whether events are left out because the view would have more than `limits.maxViewBytes`. */
    readonly isTruncated: boolean;
    /**
     * With which event the beginning ends that the view has in common with what a model was given last; 0 for none. It is an earlier
     * summary if the one in the view has only more parts. Missing if none of the last 200 events says what its model was given.
     */
    readonly stableUntilSeq?: number | undefined;
    /** What changed since the view of `since`. */
    readonly change?: ViewDifference | undefined;
  };
  /** First retained event; earlier ones were trimmed. */
  readonly firstSeq: number;
  /** Last event of the log, not of this page; with `atSeq`, that event. */
  readonly lastSeq: number;
  /** For the next page. Missing on the last page. */
  readonly nextCursor?: string | undefined;
}

/** Explains a view, for a page of the log. It renews nothing. */
export async function explainView(env: SessionEnvironment, request: ExplainViewRequest): Promise<ViewExplanation> {
  const key = checkedSessionKey(request);
  const config = checkedViewConfig(request.config);
  const limit = checkedLimit(request.limit);
  const order = checkedOrder(request.order, 'asc');
  const cursor = LogCursor.parse(request.cursor, order);
  const atSeq = optionalCount(request.atSeq, 'atSeq');
  const since = optionalCount(request.since, 'since');

  const storage = atSeq === undefined ? env.storage : await readerAt(env.storage, key, atSeq, 'atSeq');
  const { stored, view, decisions, isTruncated } = await readDecided(env, storage, key, config);
  const { record } = stored;
  const reads = new IncarnationReads(storage, key, cursor?.incarnation ?? record.incarnation);
  const reader = new PageReader(reads, order);
  const wanted = findExplainedRange(request, cursor, record.lastSeq);
  const page = await reader.read(wanted, limit, env.limits.maxPageBytes);
  const end = reader.endOf(wanted, page);

  const given = toSeqPairs(view);
  const answer = await lastAnswerBefore(env, reads, record.lastSeq + 1);
  const stableUntilSeq = answer && (await commonBeginning(reads, answer.modelRequest.given, given));
  const change = since === undefined ? undefined : await changeSince(env, since, reads, { key, config, given });
  return {
    events: page.map((event) => explained(viewItem(event), decisions)),
    view: {
      events: view.length,
      tokens: view.reduce((sum, { event }) => sum + estimateTokens(event.content), 0),
      isTruncated,
      ...(stableUntilSeq !== undefined && { stableUntilSeq }),
      ...(change && { change }),
    },
    firstSeq: record.firstSeq,
    lastSeq: record.lastSeq,
    ...(end !== undefined && { nextCursor: new LogCursor(record.incarnation, end, order).toString() }),
  };
}

/** A view with what decided about it. */
interface Decided extends Pick<ReadView, 'stored' | 'view'> {
  readonly isTruncated: boolean;
  readonly decisions: ViewDecisions;
}

async function readDecided(
  env: SessionEnvironment,
  storage: SessionReader,
  key: SessionKey,
  config: GetSessionConfig,
): Promise<Decided> {
  const filter = readFilter(env);
  const options = { config, isForOneRead: isReadShorter(env), maxBytes: env.limits.maxViewBytes };
  const read = await readView(storage, key, filter, options);
  if (!read) throw new SessionNotFoundError(key.sessionId);
  const { stored, source, cut, view, isTruncated = false } = read;
  const { marks } = stored.record;
  const { view: whole, choice } = cut ?? {};
  const decisions = new ViewDecisions({ ...source, marks, filter, whole, choice, view, isTruncated });
  return { stored, view, isTruncated, decisions };
}

/** What a view has otherwise than the one after an earlier event. */
async function changeSince(
  env: SessionEnvironment,
  since: number,
  reads: IncarnationReads,
  { key, config, given }: { key: SessionKey; config: GetSessionConfig; given: readonly SeqPair[] },
): Promise<ViewDifference> {
  const storage = await readerAt(env.storage, key, since, 'since');
  const { stored, view } = await readDecided(env, storage, key, config);
  if (stored.record.incarnation !== reads.record.incarnation) throw new SessionNotFoundError(key.sessionId);
  const before = toSeqPairs(view);
  const stableUntilSeq = await commonBeginning(reads, before, given);
  return { seq: since, ...givenDifference(before, given), stableUntilSeq };
}

function explained(item: ViewItem, decisions: ViewDecisions): ExplainedEvent {
  const { seq, id, author, content } = item.event;
  const { reason, by } = decisions.of(item);
  const tokens = estimateTokens(content);
  return { seq, id, author, inView: isInView(reason), reason, ...(by !== undefined && { by }), tokens };
}

/** The events to explain. Those that came after the view was read are not among them. */
function findExplainedRange(
  request: ExplainViewRequest,
  cursor: LogCursor | undefined,
  lastSeq: number,
): SeqRange | undefined {
  const from = optionalCount(request.fromSeq, 'fromSeq') ?? 0;
  const to = optionalCount(request.toSeq, 'toSeq') ?? lastSeq;
  return leftAfter({ from, to: Math.min(to, lastSeq) }, cursor);
}
