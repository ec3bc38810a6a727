import { SessionService } from '../../src/index.js';
import { SessionSearch } from '../../src/search/index.js';
import { SummarizerSessionManager } from '../../src/summarizer/index.js';
import { methodsOf } from '../support/methods-of.js';

/** A call of the service. */
export interface Call {
  readonly method: string;
  readonly request: object;
}

/** What a call returns or, as a function, does. */
type Reply = unknown;

/** A service that stores nothing: it records its calls, and returns what a test sets. */
export class RecordingService {
  readonly sessions = this.#standIn(SessionService);
  readonly summaries = this.#standIn(SummarizerSessionManager);
  readonly search = this.#standIn(SessionSearch);
  #calls: Call[] = [];
  #replies: Readonly<Record<string, Reply>> = {};

  /** Sets what each method returns, and removes earlier calls. An `Error` is thrown. */
  reply(replies: Readonly<Record<string, Reply>>): void {
    this.#replies = replies;
    this.#calls = [];
  }

  /** The calls since the last {@link reply}. */
  get calls(): readonly Call[] {
    return this.#calls;
  }

  #standIn<Service extends object>(Class: abstract new (...args: never[]) => Service): Service {
    const methods = methodsOf(Class);
    return new Proxy(Object.create(Class.prototype as object) as Service, {
      get: (target, name) => {
        if (!methods.includes(String(name))) return Reflect.get(target, name);
        return (request: object = {}) => this.#answer(String(name), request);
      },
    });
  }

  #answer(method: string, asked: object): unknown {
    // A server adds the gate of its memory to a watch; no request has it.
    const { gate: _gate, ...request } = asked as { gate?: unknown };
    this.#calls.push({ method, request });
    const reply = Object.hasOwn(this.#replies, method)
      ? this.#replies[method]
      : new Error(`The service was not expected to be called: ${method}`);
    if (method === 'watch') return watchOf(reply, request);
    return reply instanceof Error ? Promise.reject(reply) : Promise.resolve(reply);
  }
}

/** Gives the events, then throws, or waits for the end. */
async function* watchOf(reply: Reply, { signal }: { signal?: AbortSignal }): AsyncGenerator<unknown, undefined> {
  if (reply instanceof Error) throw reply;
  yield* reply as Iterable<unknown> | AsyncIterable<unknown>;
  if (signal?.aborted !== true) {
    await new Promise((resolve) => signal?.addEventListener('abort', resolve, { once: true }));
  }
  return undefined;
}

/** Fields that hold several values, or parts of a request. */
const PARTS = new Set(['session', 'config', 'sessions', 'events', 'nodes', 'pageInfo', 'event', 'summaries', 'hits']);

/**
 * A value as text, one line for each field, to compare exactly what arrived: `null` and a missing field differ, and so do the
 * orders of keys inside states, contents and actions. The order of the fields of a request or a result means nothing.
 */
export function linesOf(value: unknown, place = '$'): string[] {
  if (Array.isArray(value)) {
    return [`${place} has ${value.length}`, ...value.flatMap((item, index) => linesOf(item, `${place}[${index}]`))];
  }
  if (typeof value !== 'object' || value === null) return [`${place} = ${JSON.stringify(value)}`];
  const lines = Object.entries(value).flatMap(([name, field]: [string, unknown]) => {
    // What a transport checks by itself is no part of what the client sent.
    if (field === undefined || field instanceof AbortSignal || typeof field === 'function') return [];
    const isOfParts = PARTS.has(name) && typeof field === 'object' && field !== null;
    return isOfParts ? linesOf(field, `${place}.${name}`) : [`${place}.${name} = ${JSON.stringify(field)}`];
  });
  return lines.toSorted();
}

export function linesOfCalls(calls: readonly Call[]): string[] {
  return calls.flatMap(({ method, request }) => [`call ${method}`, ...linesOf(request)]);
}
