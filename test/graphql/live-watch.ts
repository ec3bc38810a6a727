import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { LoggedEvent } from '../../src/index.js';
import { type GraphqlProblem, RemoteError } from './remote-error.js';

const WATCH = `subscription ($appName: String!, $userId: String!, $sessionId: String!, $afterSeq: SafeInt) {
  eventAppended(appName: $appName, userId: $userId, sessionId: $sessionId, afterSeq: $afterSeq) { body }
}`;

interface GraphqlWsOptions {
  readonly url: string;
  readonly variables: Record<string, unknown>;
  readonly connectionParams?: Record<string, unknown>;
  readonly headers?: Record<string, string>;
}

interface Payload {
  readonly data?: { readonly eventAppended: { readonly body: LoggedEvent } } | null;
  readonly errors?: readonly GraphqlProblem[];
}

type Result = IteratorResult<LoggedEvent, undefined>;
const OVER = { done: true, value: undefined } as const;

/** A subscription over a connection of its own, as a client of graphql-ws makes it; it never connects again. */
export class LiveWatch implements AsyncIterableIterator<LoggedEvent> {
  readonly #client: Client;
  readonly #events: LoggedEvent[] = [];
  #socket: WebSocket | undefined;
  #end: { readonly error?: unknown } | undefined;
  #wake = (): void => undefined;

  constructor({ url, variables, connectionParams, headers = {} }: GraphqlWsOptions) {
    class Socket extends WebSocket {
      constructor(address: string, protocols: string[]) {
        super(address, protocols, { headers });
      }
    }
    this.#client = createClient({
      url,
      webSocketImpl: Socket,
      retryAttempts: 0,
      ...(connectionParams && { connectionParams }),
      on: { opened: (socket) => (this.#socket = socket as WebSocket) },
    });
    this.#client.subscribe<Payload['data']>(
      { query: WATCH, variables },
      {
        next: (payload) => this.#take(payload as Payload),
        error: (error) => this.#finish({ error: Array.isArray(error) ? new RemoteError(error[0]) : error }),
        complete: () => this.#finish({}),
      },
    );
  }

  async next(): Promise<Result> {
    for (;;) {
      const event = this.#events.shift();
      if (event) return { done: false, value: event };
      if (this.#end) return this.#over();
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** An end is told once. */
  #over(): Result {
    const { error } = this.#end ?? {};
    this.#end = {};
    if (error !== undefined) throw error;
    return OVER;
  }

  async return(): Promise<Result> {
    this.#events.length = 0;
    this.#finish({});
    await this.#client.dispose();
    return OVER;
  }

  /** The connection breaks, without a word to anybody. */
  cut(): void {
    this.#socket?.terminate();
    this.#finish({ error: new Error('The connection broke') });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #take({ data, errors }: Payload): void {
    if (this.#end) return;
    const [error] = errors ?? [];
    if (error) this.#finish({ error: new RemoteError(error) });
    else if (data) this.#events.push(data.eventAppended.body);
    this.#wake();
  }

  #finish(end: { readonly error?: unknown }): void {
    this.#end ??= end;
    this.#wake();
  }
}
