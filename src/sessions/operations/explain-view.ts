import { SessionNotFoundError } from '../domain/errors.js';
import { type SessionKey, checkedSessionKey, sessionKeyOf } from '../domain/ids.js';
import { optionalCount } from '../domain/input-checks.js';
import { checkedLimit, checkedOrder, leftAfter, LogCursor, type LogPageRequest } from '../domain/paging.js';
import type { SeqRange } from '../domain/seq-ranges.js';
import { givenRanges } from '../domain/model-request.js';
import { estimateTokens } from '../domain/token-estimate.js';
import { type ViewItem, viewItem } from '../domain/view-item.js';
import { type GetSessionConfig, checkedViewConfig } from '../domain/narrow-view.js';
import { ViewDecisions } from '../domain/explained-view.js';
import { type ViewReason, isInView } from '../domain/view-reason.js';
import { type SessionEnvironment, isReadShorter, readFilter } from '../session-environment.js';
import { commonBeginning } from './common-beginning.js';
import { lastAnswerBefore } from './get-model-request.js';
import { IncarnationReads } from './incarnation-reads.js';
import { PageReader } from './list-events.js';
import { readView } from './read-view.js';

/** The view to explain, and the part of the log. */
export interface ExplainViewRequest extends SessionKey, LogPageRequest {
  /** Explains the view that `getSession` returns with this config. Default: the whole view. */
  readonly config?: GetSessionConfig | undefined;
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
  };
  /** First retained event; earlier ones were trimmed. */
  readonly firstSeq: number;
  /** Last event of the log, not of this page. */
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
  const filter = readFilter(env);
  const { maxViewBytes, maxPageBytes } = env.limits;

  const read = await readView(env.storage, key, filter, {
    config,
    isForOneRead: isReadShorter(env),
    maxBytes: maxViewBytes,
  });
  if (!read) throw new SessionNotFoundError(key.sessionId);
  const { record } = read.stored;
  const reads = new IncarnationReads(env.storage, sessionKeyOf(record), cursor?.incarnation ?? record.incarnation);
  const reader = new PageReader(reads, order);
  const wanted = stretchOf(request, cursor, record.lastSeq);
  const page = await reader.read(wanted, limit, maxPageBytes);
  const end = reader.endOf(wanted, page);

  const answer = await lastAnswerBefore(env, reads, record.lastSeq + 1);
  const decisions = new ViewDecisions({
    ...read.source,
    marks: record.marks,
    filter,
    whole: read.cut?.view,
    choice: read.cut?.choice,
    view: read.view,
    isTruncated: read.isTruncated === true,
  });
  return {
    events: page.map((stored) => explained(viewItem(stored), decisions)),
    view: {
      events: read.view.length,
      tokens: read.view.reduce((sum, { event }) => sum + estimateTokens(event.content), 0),
      isTruncated: read.isTruncated === true,
      ...(answer && {
        stableUntilSeq: await commonBeginning(reads, answer.modelRequest.given, givenRanges(read.view).given),
      }),
    },
    firstSeq: record.firstSeq,
    lastSeq: record.lastSeq,
    ...(end !== undefined && { nextCursor: new LogCursor(record.incarnation, end, order).toString() }),
  };
}

function explained(item: ViewItem, decisions: ViewDecisions): ExplainedEvent {
  const { seq, id, author, content } = item.event;
  const { reason, by } = decisions.of(item);
  const tokens = estimateTokens(content);
  return { seq, id, author, inView: isInView(reason), reason, ...(by !== undefined && { by }), tokens };
}

/** The events to explain. Those that came after the view was read are not among them. */
function stretchOf(request: ExplainViewRequest, cursor: LogCursor | undefined, lastSeq: number): SeqRange | undefined {
  const from = optionalCount(request.fromSeq, 'fromSeq') ?? 0;
  const to = optionalCount(request.toSeq, 'toSeq') ?? lastSeq;
  return leftAfter({ from, to: Math.min(to, lastSeq) }, cursor);
}
