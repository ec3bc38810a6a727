import { LogCursor, StateChangeCursor, checkedOrder } from './domain/paging.js';
import { optionalCount } from './domain/input-checks.js';
import type { ModelRequestReport } from './domain/request-report.js';
import * as operations from './operations/index.js';
import { checkedRequest } from './request-fields.js';
import { runOperation as run } from './run-operation.js';
import type { SessionEnvironment } from './session-environment.js';

/** Where a read goes that must have an event of its session. */
type EnvironmentFor = (minSeq: number) => SessionEnvironment;

/** The reads that may be a little old. They are methods of `SessionService`, too, where they are never old. */
export class SessionReads {
  readonly #for: EnvironmentFor;

  constructor(environmentFor: EnvironmentFor) {
    this.#for = environmentFor;
  }

  /** @example const names = await readsOf(sessions).listApps(); */
  async listApps(): Promise<string[]> {
    return run(this.#for(0), 'listApps', ({ storage }) => storage.consumers.apps(), undefined);
  }

  /** @example const { sessions: page } = await readsOf(sessions).listSessions({ appName: 'shop', userId: 'ann' }); */
  async listSessions(request: operations.ListSessionsRequest): Promise<operations.SessionPage> {
    return run(this.#for(0), 'list', operations.listSessions, checkedRequest('listSessions', request));
  }

  /** @example const { events } = await readsOf(sessions).listEvents({ appName: 'shop', userId: 'ann', sessionId, minSeq: 4 }); */
  async listEvents(request: operations.ListEventsRequest): Promise<operations.EventPage> {
    const checked = checkedRequest('listEvents', request);
    const seq = lastOf(checked, request.afterSeq, seqIn(request, logCursor));
    return run(this.#for(seq), 'listEvents', operations.listEvents, checked);
  }

  /** @example const { view } = await readsOf(sessions).explainView({ appName: 'shop', userId: 'ann', sessionId }); */
  async explainView(request: operations.ExplainViewRequest): Promise<operations.ViewExplanation> {
    const checked = checkedRequest('explainView', request);
    const { atSeq, since } = request;
    const seq = lastOf(checked, seqIn(request, logCursor), atSeq, since);
    return run(this.#for(seq), 'explainView', operations.explainView, checked);
  }

  /** @example const report = await readsOf(sessions).getModelRequest({ appName: 'shop', userId: 'ann', sessionId, seq: 4 }); */
  async getModelRequest(request: operations.ModelRequestQuery): Promise<ModelRequestReport | undefined> {
    const checked = checkedRequest('getModelRequest', request);
    return run(this.#for(lastOf(checked, request.seq)), 'getModelRequest', operations.getModelRequest, checked);
  }

  /** @example const { state } = await readsOf(sessions).stateAt({ appName: 'shop', userId: 'ann', sessionId, seq: 4 }); */
  async stateAt(request: operations.StateAtRequest): Promise<operations.StateAtMoment> {
    const checked = checkedRequest('stateAt', request);
    return run(this.#for(lastOf(checked, request.seq)), 'stateAt', operations.stateAt, checked);
  }

  /** @example const { changes } = await readsOf(sessions).stateChanges({ appName: 'shop', userId: 'ann', sessionId }); */
  async stateChanges(request: operations.StateChangesRequest): Promise<operations.StateChangePage> {
    const checked = checkedRequest('stateChanges', request);
    const seq = lastOf(
      checked,
      request.afterSeq,
      seqIn(request, (cursor) => StateChangeCursor.parse(cursor)),
    );
    return run(this.#for(seq), 'stateChanges', operations.stateChanges, checked);
  }

  /** @example const { total } = await readsOf(sessions).getUsage({ appName: 'shop', userId: 'ann' }); */
  async getUsage(request: operations.GetUsageRequest): Promise<operations.UsageReport> {
    return run(this.#for(0), 'getUsage', operations.getUsage, checkedRequest('getUsage', request));
  }
}

/** The last event that the caller knows of. */
function lastOf({ minSeq }: { readonly minSeq?: unknown }, ...known: readonly unknown[]): number {
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
