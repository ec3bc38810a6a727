import type { RemoteKey } from '../../../src/client/index.js';
import type { Progress } from '../progress.js';
import { type SessionReads, type ShownSession, explainedEvents } from '../session-reads.js';
import type { DecisionRun, SessionCopy } from './session-copy.js';

/** Events of one request: the most that the routes answer with. */
const PAGE = 1_000;

export interface ReadCopyOptions {
  readonly onProgress: (progress: Progress) => void;
  readonly signal: AbortSignal;
  /** How much of a long log is read. A browser has to hold it, here and where the copy is opened. */
  readonly mostEvents?: number;
  readonly mostCharacters?: number;
}

/** A session that was read. */
export interface ReadSessionCopy {
  readonly session: ShownSession;
  /** A {@link SessionCopy} as JSON for a `script` element, in pieces: one text of it all would need the memory twice. */
  readonly json: readonly string[];
}

/**
 * Reads a session as it is now: what its reader may read, from the newest event back to the first, or until it is too much. Events that are
 * appended meanwhile are not in it.
 */
export async function readCopy(
  reads: SessionReads,
  key: RemoteKey,
  { onProgress, signal, mostEvents = 100_000, mostCharacters = 50_000_000 }: ReadCopyOptions,
): Promise<ReadSessionCopy> {
  const madeAt = Date.now();
  const session = await reads.getSession(key);
  if (!session) throw new Error('This session does not exist, or you may not see it.');
  const view = new Map(session.events.map((event) => [event.seq, inlineJson(event)]));
  /** Newest first. */
  const texts: string[] = [];
  let first = session.version + 1;
  let characters = 0;
  let isFull = false;
  let count: number;
  let cursor: string | undefined;
  do {
    signal.throwIfAborted();
    const limit = Math.min(PAGE, mostEvents - texts.length);
    const beforeSeq = session.version + 1;
    const page = await reads.listEvents({ ...key, order: 'desc', beforeSeq, limit, cursor });
    count = session.version - page.firstSeq + 1;
    for (const event of page.events) {
      const text = inlineJson(event);
      characters += text.length;
      isFull = texts.length > 0 && characters > mostCharacters;
      if (isFull) break;
      texts.push(text);
      first = event.seq;
      // What a model is given is in the log, as a rule. Then its number is enough.
      if (view.get(event.seq) === text) view.set(event.seq, String(event.seq));
    }
    onProgress({ read: texts.length, total: count });
    cursor = page.nextCursor;
  } while (cursor !== undefined && !isFull && texts.length < mostEvents);
  const before = await reads.stateAt({ ...key, seq: first - 1 });
  const decisions = await readDecisions(reads, { ...key, fromSeq: first, toSeq: session.version }, signal);
  const head = inlineJson({ madeAt, session: withoutContent(session), count, before, decisions } satisfies Head);
  const rest = `${head.slice(0, -1)},"view":[${[...view.values()].join(',')}],"events":[`;
  return { session, json: [rest, ...texts.toReversed().flatMap((text, index) => (index ? [',', text] : text)), ']}'] };
}

/** Why each event of a part of the log is given to a model, or not. */
async function readDecisions(
  reads: SessionReads,
  part: RemoteKey & { readonly fromSeq: number; readonly toSeq: number },
  signal: AbortSignal,
): Promise<DecisionRun[]> {
  const runs: DecisionRun[] = [];
  for await (const events of explainedEvents(reads, { ...part, limit: PAGE })) {
    signal.throwIfAborted();
    for (const { seq, reason, by } of events) {
      const last = runs.at(-1);
      const goesOn = last?.[1] === seq - 1 && last[2] === reason && last[3] === by;
      if (goesOn) runs.pop();
      const from = goesOn ? last[0] : seq;
      runs.push(by === undefined ? [from, seq, reason] : [from, seq, reason, by]);
    }
  }
  return runs;
}

type Head = Omit<SessionCopy, 'view' | 'events'>;

/** State is part of what is read, and not of what is shown: it may have values that other sessions gave to shared keys. */
function withoutContent(session: ShownSession & { readonly state?: unknown }): SessionCopy['session'] {
  const { events: _events, state: _state, ...shown } = session;
  return shown;
}

/** JSON as the text of a `script` element: it holds no sign that could end the element, or begin a comment or another one. */
function inlineJson(value: unknown): string {
  return JSON.stringify(value).replace(/[<\u2028\u2029]/g, escaped);
}

function escaped(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
