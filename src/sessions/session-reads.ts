import { LogCursor, StateChangeCursor, checkedOrder } from './domain/values/paging.js';
import { optionalCount } from './domain/values/input-checks.js';
import type { ModelRequestReport } from './domain/event/request-report.js';
import type * as operations from './operations/index.js';
import { checkedRequest } from './service-operations.js';
import { runOnRequest, runOperation as run } from './run-operation.js';
import type { SessionEnvironment } from './session-environment.js';

/** Where a read goes that must have an event of its session. */
type EnvironmentFor = (minSeq: number) => SessionEnvironment;

/**
 * The reads of a `SessionService`, where they are never old, and of `readsOf`, where they may be a little old.
 * @example const { events } = await readsOf(sessions).listEvents({ appName: 'shop', userId: 'ann', sessionId, minSeq: 4 });
 */
export class SessionReads {
  readonly #for: EnvironmentFor;

  constructor(environmentFor: EnvironmentFor) {
    this.#for = environmentFor;
  }

  /**
   * Lists the names of all apps that have sessions, and perhaps of some that had, in the order of their bytes.
   * @example for (const appName of await sessions.listApps()) console.log(appName, await sessions.getUsage({ appName }));
   */
  async listApps(): Promise<string[]> {
    return run(this.#for(0), 'listApps', undefined);
  }

  /**
   * Lists the sessions of a user or of an app, page by page: newest update first, without events.
   * @example const { sessions: page, nextCursor } = await sessions.listSessions({ appName: 'shop', userId: 'ann', limit: 20 });
   */
  async listSessions(request: operations.ListSessionsRequest): Promise<operations.SessionPage> {
    return runOnRequest(this.#for(0), 'listSessions', request);
  }

  /**
   * Lists the log, page by page, including rewound and summarised events.
   * @example const { events, nextCursor } = await sessions.listEvents({ appName: 'shop', userId: 'ann', sessionId });
   */
  async listEvents(request: operations.ListEventsRequest): Promise<operations.EventPage> {
    const checked = checkedRequest('listEvents', request);
    const seq = findLastKnownSeq(checked, request.afterSeq, seqIn(request, logCursor));
    return run(this.#for(seq), 'listEvents', checked);
  }

  /**
   * Says of each event of the log, page by page, why it is in the view, or not. Throws `SessionNotFoundError`.
   * @example const { events } = await sessions.explainView({ appName: 'shop', userId: 'ann', sessionId });
   */
  async explainView(request: operations.ExplainViewRequest): Promise<operations.ViewExplanation> {
    const checked = checkedRequest('explainView', request);
    const { atSeq, since } = request;
    const seq = findLastKnownSeq(checked, seqIn(request, logCursor), atSeq, since);
    return run(this.#for(seq), 'explainView', checked);
  }

  /**
   * Says what a model was given for an answer, and what changed since it was asked before. `undefined` if the event does not say it.
   * @example const { given, change } = (await sessions.getModelRequest({ appName: 'shop', userId: 'ann', sessionId, seq: 4 })) ?? {};
   */
  async getModelRequest(request: operations.ModelRequestQuery): Promise<ModelRequestReport | undefined> {
    const checked = checkedRequest('getModelRequest', request);
    return run(this.#for(findLastKnownSeq(checked, request.seq)), 'getModelRequest', checked);
  }

  /**
   * Reads the session's state as it was after an event. Throws `InvalidInputError` for events that were trimmed.
   * @example const { state } = await sessions.stateAt({ appName: 'shop', userId: 'ann', sessionId, seq: 4 });
   */
  async stateAt(request: operations.StateAtRequest): Promise<operations.StateAtMoment> {
    const checked = checkedRequest('stateAt', request);
    return run(this.#for(findLastKnownSeq(checked, request.seq)), 'stateAt', checked);
  }

  /**
   * Lists which event of this session changed which state key from what to what, by pages, of which some may be empty.
   * @example const { changes, nextCursor } = await sessions.stateChanges({ appName: 'shop', userId: 'ann', sessionId });
   */
  async stateChanges(request: operations.StateChangesRequest): Promise<operations.StateChangePage> {
    const checked = checkedRequest('stateChanges', request);
    const seq = findLastKnownSeq(
      checked,
      request.afterSeq,
      seqIn(request, (cursor) => StateChangeCursor.parse(cursor)),
    );
    return run(this.#for(seq), 'stateChanges', checked);
  }

  /**
   * Returns the tokens that a session, a user or an app used, by model, and what they cost.
   * @example const { total, costMicros } = await sessions.getUsage({ appName: 'shop', userId: 'ann', period: 'month' });
   */
  async getUsage(request: operations.GetUsageRequest): Promise<operations.UsageReport> {
    return runOnRequest(this.#for(0), 'getUsage', request);
  }
}

/** The last event that the caller knows of. */
function findLastKnownSeq({ minSeq }: { readonly minSeq?: unknown }, ...known: readonly unknown[]): number {
  const seqs = known.filter((seq): seq is number => Number.isSafeInteger(seq));
  return Math.max(optionalCount(minSeq, 'minSeq') ?? 0, 0, ...seqs);
}

interface Paged {
  readonly cursor?: string | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
}

function logCursor(cursor: unknown, order: unknown): LogCursor | undefined {
  return LogCursor.parse(cursor, checkedOrder(order, 'asc'));
}

/** Where the page before ended. The operation says what is wrong with a cursor. */
function seqIn(
  { cursor, order }: Paged,
  parse: (cursor: unknown, order: unknown) => { readonly seq: number } | undefined,
): number | undefined {
  try {
    return parse(cursor, order)?.seq;
  } catch {
    return undefined;
  }
}
