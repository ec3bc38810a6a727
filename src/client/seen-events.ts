import { BoundedMap } from '../sessions/domain/process/bounded-map.js';

/** The parameters of a request. */
type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** Sessions that a client remembers. */
const MAX_SESSIONS = 1_000;

const SESSION = /^(?<session>\/apps\/[^/]+\/users\/[^/]+\/sessions\/[^/?]+)(?<rest>\/.*)?$/;

/** What answers with the number of the last event. Others may answer with what users wrote. */
const TELLING: ReadonlySet<string | undefined> = new Set([
  undefined,
  '/events',
  '/events/batch',
  '/events/around',
  '/view/explanation',
  '/state/changes',
  '/rewind',
  '/run',
  '/run_sse',
]);

/** No log has this event: a read that must have it is never old. Numbers in queries have at most 15 digits. */
export const NEWEST = 999_999_999_999_999;

/**
 * The last event that a client has seen of each session. It tells the server in reads that may be a little old, so that none of them is older
 * than what the client knows.
 */
export class SeenEvents {
  readonly #seqs = new BoundedMap<number>(MAX_SESSIONS);

  /** The query of a request, with what was seen if it may be a little old: if it has `minSeq`, which may be undefined. */
  tell(path: string, query: Query | undefined): Query | undefined {
    if (!query || !('minSeq' in query)) return query;
    const seen = this.#seqs.get(splitSessionPath(path).session);
    return seen === undefined ? query : { ...query, minSeq: Math.max(seen, Number(query.minSeq ?? 0)) };
  }

  /** Looks at an answer, or at an event of a stream. */
  see(method: string, path: string, answer: unknown): void {
    const { session, rest } = splitSessionPath(path);
    if (session === '' || !TELLING.has(rest)) return;
    if (method === 'DELETE' && rest === undefined) {
      this.#seqs.delete(session);
      return;
    }
    const seq = lastIn(answer);
    if (seq > (this.#seqs.get(session) ?? 0)) this.#seqs.set(session, seq);
  }
}

function splitSessionPath(path: string): { readonly session: string; readonly rest: string | undefined } {
  const { session = '', rest } = SESSION.exec(path)?.groups ?? {};
  return { session, rest };
}

/** The last event that an answer tells of: a session, a page of a log, events or an event. */
function lastIn(answer: unknown): number {
  if (Array.isArray(answer)) return lastIn(answer.at(-1));
  if (typeof answer !== 'object' || answer === null) return 0;
  const { seq, lastSeq, version, events } = answer as Readonly<Record<string, unknown>>;
  const seqs = [seq, lastSeq, version].filter((value): value is number => Number.isSafeInteger(value));
  return Math.max(0, Array.isArray(events) ? lastIn(events) : 0, ...seqs);
}
