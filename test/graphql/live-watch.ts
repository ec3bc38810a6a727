import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { LoggedEvent, WatchedEvent } from '../../src/index.js';
import { type GraphqlProblem, RemoteError } from './remote-error.js';

const WATCH = `subscription (
  $appName: String!, $userId: String!, $sessionId: String!,
  $afterSeq: SafeInt, $stateDeltas: Boolean, $partials: Boolean, $afterPosition: String
) {
  eventAppended(
    appName: $appName, userId: $userId, sessionId: $sessionId,
    afterSeq: $afterSeq, stateDeltas: $stateDeltas, partials: $partials, afterPosition: $afterPosition
  ) {
    body
    statePatch
    position
    offset
  }
}`;

interface GraphqlWsOptions {
  readonly url: string;
  readonly variables: Record<string, unknown>;
  readonly connectionParams?: Record<string, unknown>;
  readonly headers?: Record<string, string>;
}

interface Watched {
  readonly body: LoggedEvent;
  readonly statePatch: WatchedEvent['statePatch'] | null;
  readonly position: string | null;
  readonly offset: number | null;
}

interface Payload {
  readonly data?: {
    readonly eventAppended: Watched;
  } | null;
  readonly errors?: readonly GraphqlProblem[];
}

type Result = IteratorResult<LoggedEvent, undefined>;
const OVER = { done: true, value: undefined } as const;

/** A subscription of a graphql-ws client with its own connection, without reconnects. */
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

  /** The end is reported once. */
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

  /** Breaks the connection without a close frame. */
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
    else if (data) this.#events.push(watchedOf(data.eventAppended));
    this.#wake();
  }

  #finish(end: { readonly error?: unknown }): void {
    this.#end ??= end;
    this.#wake();
  }
}

function watchedOf({ body, statePatch, position, offset }: Watched): WatchedEvent {
  return {
    ...body,
    ...(statePatch && { statePatch }),
    ...(position !== null && { position }),
    ...(offset !== null && { offset }),
  };
}
