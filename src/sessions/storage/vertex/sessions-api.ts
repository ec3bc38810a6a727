import { setTimeout as sleep } from 'node:timers/promises';
import { eventPageIn, operationIn, sessionIn, sessionPageIn } from './answers.js';
import type { Engine } from './engines.js';
import type { VertexClient, VertexReply, VertexRequest } from './vertex-client.js';
import { VertexError } from './vertex-error.js';
import type { EventPage, Operation, SessionPage, VertexEvent, VertexSession } from './wire.js';

/** The most that the API returns at once. */
const PAGE_SIZE = '100';
const NOT_FOUND = 404;
const EXISTS = 409;
/** The code of `ALREADY_EXISTS` in an operation. */
const EXISTS_CODE = 6;
const FIRST_POLL_MS = 50;
const LONGEST_POLL_MS = 1_000;

/** The session to create. */
export interface NewSession {
  readonly userId: string;
  readonly sessionState: object;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly ttl?: string | undefined;
  /** Instead of `ttl`. */
  readonly expireTime?: string | undefined;
}

/** The outcome of a creation. */
export type Creation = 'created' | 'exists' | 'unclear';

/** The methods of the API that the store uses, for one engine. */
export class SessionsApi {
  constructor(
    private readonly client: VertexClient,
    private readonly engine: Engine,
    private readonly operationLimitMs: number,
  ) {}

  /** `unclear`: a try may have created it before the answer `exists`, or the operation was not found. */
  async create(id: string, body: NewSession): Promise<Creation> {
    const request = { method: 'POST', url: `${this.engine.url}/sessions`, query: { sessionId: id }, body } as const;
    const reply = await this.client.send({ ...request, isRepeatable: true, accepts: [EXISTS] });
    if (reply.status === EXISTS) return reply.wasRepeated ? 'unclear' : 'exists';
    const operation = await this.#finished(operationIn(reply.body), 'to create the session');
    if (operation?.error?.code === EXISTS_CODE) return reply.wasRepeated ? 'unclear' : 'exists';
    return operation === undefined ? 'unclear' : 'created';
  }

  async get(id: string): Promise<VertexSession | undefined> {
    const found = await this.#send({
      method: 'GET',
      url: this.#urlOf(id),
      isRepeatable: true,
      accepts: [NOT_FOUND],
    });
    return found.status === NOT_FOUND ? undefined : sessionIn(found.body);
  }

  /** Events, newest first. A session that does not exist has none. */
  async eventPage(id: string, pageToken: string | undefined): Promise<EventPage> {
    const query = { pageSize: PAGE_SIZE, orderBy: 'timestamp desc', pageToken };
    const url = `${this.#urlOf(id)}/events`;
    const found = await this.#send({ method: 'GET', url, query, isRepeatable: true, accepts: [NOT_FOUND] });
    return found.status === NOT_FOUND ? {} : eventPageIn(found.body);
  }

  async sessionPage(
    filter: string | undefined,
    pageToken: string | undefined,
    pageSize = PAGE_SIZE,
  ): Promise<SessionPage> {
    const query = { pageSize, filter, pageToken };
    const found = await this.#send({ method: 'GET', url: `${this.engine.url}/sessions`, query, isRepeatable: true });
    return sessionPageIn(found.body);
  }

  /** Sends an event. The status is that of a success, of a missing session, or 400. */
  append(id: string, event: VertexEvent): Promise<VertexReply> {
    return this.#send({
      method: 'POST',
      url: `${this.#urlOf(id)}:appendEvent`,
      body: event,
      isRepeatable: false,
      ignoresBody: true,
      accepts: [NOT_FOUND, 400],
    });
  }

  /** Lets the session live for this time from now on. */
  async setTtl(id: string, ttl: string): Promise<void> {
    const request = { url: this.#urlOf(id), query: { updateMask: 'ttl' }, body: { ttl } };
    await this.#send({ ...request, method: 'PATCH', isRepeatable: true, accepts: [NOT_FOUND] });
  }

  async delete(id: string): Promise<void> {
    const reply = await this.#send({
      method: 'DELETE',
      url: this.#urlOf(id),
      isRepeatable: true,
      accepts: [NOT_FOUND],
    });
    if (reply.status !== NOT_FOUND) await this.#finished(operationIn(reply.body), 'to delete the session');
  }

  #urlOf(id: string): string {
    return `${this.engine.url}/sessions/${id}`;
  }

  #send(request: VertexRequest): Promise<VertexReply> {
    return this.client.send(request);
  }

  /** Waits for a long-running operation. Undefined if nobody knows it any more. */
  async #finished(started: Operation, purpose: string): Promise<Operation | undefined> {
    const deadline = Date.now() + this.operationLimitMs;
    let operation = started;
    for (
      let pauseMs = FIRST_POLL_MS;
      !operation.done && operation.name;
      pauseMs = Math.min(pauseMs * 2, LONGEST_POLL_MS)
    ) {
      if (Date.now() + pauseMs >= deadline) {
        throw new VertexError(`Vertex AI took more than ${this.operationLimitMs} ms ${purpose}.`, true);
      }
      await sleep(pauseMs);
      this.client.assertOpen();
      const limitMs = Math.max(1, deadline - Date.now());
      const url = this.engine.urlOf(operation.name);
      const polled = await this.#send({ method: 'GET', url, isRepeatable: true, accepts: [NOT_FOUND], limitMs });
      if (polled.status === NOT_FOUND) return undefined;
      operation = operationIn(polled.body);
    }
    const { error } = operation;
    if (error && error.code !== EXISTS_CODE) {
      throw new VertexError(`Vertex AI failed ${purpose} (code ${Number(error.code)}).`, true);
    }
    return operation;
  }
}
