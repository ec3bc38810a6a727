import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '../../../src/sessions/domain/process/clock.js';
import {
  ApiError,
  type ManagedSession,
  ManagedSessions,
  type ServiceRules,
  withoutEvents,
} from './managed-sessions.js';

type Json = Record<string, unknown>;

/** What goes wrong with a request. */
export interface Fault {
  /** Requests that begin with this, such as `POST`, or that contain it. */
  readonly on: RegExp;
  /** How many of them pass before. Default: none. */
  passes?: number;
  /** How often. Default: once. */
  times?: number;
  /** Answers with this status, without executing the request. */
  readonly status?: number;
  /** Answers with this text, without executing the request. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Executes the request, then closes the connection: without answer, or in the middle of it. */
  readonly after?: 'drop' | 'truncate' | 'status';
  /** Never answers. */
  readonly hangs?: boolean;
}

export interface VertexServerOptions extends Partial<ServiceRules> {
  readonly clock?: Clock | undefined;
  /** How many polls an operation takes. */
  readonly polls?: number;
}

interface Gate {
  readonly on: RegExp;
  readonly count: number;
  readonly waiting: (() => void)[];
}

const ENGINE = /^\/v1beta1\/(projects\/[^/]+\/locations\/[^/]+\/reasoningEngines\/\d+)\/(.*)$/;

/** A server on this machine that keeps sessions as the documented API of Agent Engine does. */
export class VertexServer {
  readonly faults: Fault[] = [];
  /** All requests: method, path and query. */
  readonly requests: string[] = [];
  /** Accepted tokens. */
  readonly tokens = new Set(['token-1']);
  polls: number;
  /** The code with which creations fail once they were accepted. */
  creationFailure: number | undefined;
  readonly #engines = new Map<string, ManagedSessions>();
  readonly #operations = new Map<string, { polls: number; result: Json }>();
  #gate: Gate | undefined;
  readonly #server: Server;
  readonly #clock: Clock;
  readonly #rules: ServiceRules;

  private constructor({ clock = systemClock, polls = 0, ...rules }: VertexServerOptions) {
    this.#clock = clock;
    this.polls = polls;
    this.#rules = { minTtlMs: 86_400_000, maxTtlMs: Infinity, knowsRawEvent: true, maxPage: 100, listLag: 0, ...rules };
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(options: VertexServerOptions = {}): Promise<VertexServer> {
    const server = new VertexServer(options);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** All sessions, also expired ones. */
  get sessions(): ManagedSession[] {
    return [...this.#engines.values()].flatMap(({ sessions }) => [...sessions.values()]);
  }

  /** Executes the next requests that match when so many of them have arrived. */
  executeTogether(on: RegExp, count: number): void {
    this.#gate = { on, waiting: [], count };
  }

  /** The requests since the last call. */
  takeRequests(): string[] {
    return this.requests.splice(0);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const url = new URL(request.url ?? '/', this.endpoint);
    const line = `${request.method} ${url.pathname}${url.search}`;
    this.requests.push(line);
    if (this.#gate?.on.test(line)) await this.#passGate(this.#gate);
    const fault = this.#fault(line);
    if (fault?.hangs) return;
    if (fault?.body !== undefined) return send(response, fault.status ?? 200, JSON.parse(fault.body));
    if (fault?.status !== undefined && !fault.after)
      return send(response, fault.status, failure(fault.status), fault.headers);
    const [status, body] = this.#execute(request, url, text);
    if (fault?.after === 'drop') return void response.destroy();
    if (fault?.after === 'status') return send(response, fault.status ?? 503, failure(fault.status ?? 503));
    if (fault?.after === 'truncate') {
      const whole = JSON.stringify(body);
      response.writeHead(status, { 'content-type': 'application/json', 'content-length': whole.length + 10 });
      response.write(whole.slice(0, -1), () => response.destroy());
      return;
    }
    send(response, status, body);
  }

  async #passGate(gate: Gate): Promise<void> {
    const passed = new Promise<void>((resolve) => gate.waiting.push(resolve));
    if (gate.waiting.length === gate.count) {
      this.#gate = undefined;
      for (const pass of gate.waiting) pass();
    }
    await passed;
  }

  #fault(line: string): Fault | undefined {
    const index = this.faults.findIndex(({ on }) => on.test(line));
    const fault = this.faults[index];
    if (!fault) return undefined;
    if (fault.passes) {
      fault.passes--;
      return undefined;
    }
    fault.times = (fault.times ?? 1) - 1;
    if (fault.times <= 0) this.faults.splice(index, 1);
    return fault;
  }

  #execute(request: IncomingMessage, url: URL, text: string): [number, Json] {
    try {
      const token = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
      if (!this.tokens.has(token)) throw new ApiError(401, 'UNAUTHENTICATED');
      const body = text === '' ? {} : (JSON.parse(text) as Json);
      return [200, this.#route(request.method ?? '', url, body)];
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return [error.code, failure(error.code, error)];
    }
  }

  #route(method: string, url: URL, body: Json): Json {
    const [, engine = '', path = ''] = ENGINE.exec(url.pathname) ?? [];
    if (engine === '' || engine.endsWith('/404')) throw new ApiError(404, 'NOT_FOUND');
    const sessions = this.#sessionsOf(engine);
    const operation = /\/operations\/(.+)$/.exec(path)?.[1];
    if (operation !== undefined) return this.#poll(operation, url.pathname.slice('/v1beta1/'.length));
    const [, id = '', rest = ''] = /^sessions(?:\/([^/:]+))?(.*)$/.exec(path) ?? [];
    switch (`${method} ${id === '' ? 'sessions' : 'session'}${rest}`) {
      case 'POST sessions': {
        const given = url.searchParams.get('sessionId') ?? String(Math.floor(Math.random() * 1e15));
        const folder = `${engine}/sessions/${given}/operations`;
        if (this.creationFailure !== undefined)
          return this.#operation(folder, { error: { code: this.creationFailure, message: 'secret text' } });
        return this.#operation(folder, { response: withoutEvents(sessions.create(given, body)) });
      }
      case 'GET sessions':
        return sessions.list(url.searchParams);
      case 'GET session':
        return withoutEvents(sessions.get(id));
      case 'PATCH session':
        return withoutEvents(sessions.patch(id, url.searchParams.get('updateMask'), body));
      case 'DELETE session':
        sessions.delete(id);
        return this.#operation(`${engine}/sessions/${id}/operations`, { response: {} });
      case 'GET session/events':
        return sessions.events(id, url.searchParams);
      case 'POST session:appendEvent':
        sessions.append(id, body);
        return {};
      default:
        throw new ApiError(404, 'NOT_FOUND', 'No such method');
    }
  }

  #sessionsOf(engine: string): ManagedSessions {
    const known = this.#engines.get(engine) ?? new ManagedSessions(engine, this.#clock, this.#rules);
    this.#engines.set(engine, known);
    return known;
  }

  #operation(folder: string, result: Json): Json {
    const id = String(this.#operations.size + 1);
    this.#operations.set(id, { polls: this.polls, result });
    return this.polls === 0
      ? { name: `${folder}/${id}`, done: true, ...result }
      : { name: `${folder}/${id}`, done: false };
  }

  #poll(id: string, name: string): Json {
    const operation = this.#operations.get(id);
    if (!operation) throw new ApiError(404, 'NOT_FOUND');
    operation.polls--;
    return operation.polls > 0 ? { name, done: false } : { name, done: true, ...operation.result };
  }
}

function send(
  response: ServerResponse,
  status: number,
  body: Json,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function failure(code: number, error?: ApiError): Json {
  const names: Record<number, string> = {
    401: 'UNAUTHENTICATED',
    429: 'RESOURCE_EXHAUSTED',
    500: 'INTERNAL',
    503: 'UNAVAILABLE',
  };
  const details = error?.field === undefined ? [] : [{ fieldViolations: [{ field: error.field }] }];
  return {
    error: {
      code,
      status: error?.status ?? names[code] ?? 'UNKNOWN',
      message: error?.message ?? 'secret text',
      details,
    },
  };
}
