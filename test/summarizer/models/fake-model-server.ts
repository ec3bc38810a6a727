import { type IncomingHttpHeaders, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Answers one request. */
export type Behaviour = (response: ServerResponse) => void;

export interface ReceivedRequest {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A real HTTP server that answers each request with the next behaviour. The last one is repeated. */
export class FakeModelServer {
  readonly received: ReceivedRequest[] = [];
  #behaviours: Behaviour[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      void text(request).then((body) => {
        this.received.push({ path: request.url, headers: request.headers, body });
        const behaviour = this.#behaviours.length > 1 ? this.#behaviours.shift() : this.#behaviours[0];
        behaviour?.(response);
      });
    });
  }

  static async open(): Promise<FakeModelServer> {
    const opened = new FakeModelServer();
    await new Promise<void>((resolve) => opened.#server.listen(0, '127.0.0.1', resolve));
    return opened;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  does(...behaviours: Behaviour[]): void {
    this.#behaviours = behaviours;
    this.received.length = 0;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Behaviour {
  return raw(JSON.stringify(body), status, { 'Content-Type': 'application/json', ...headers });
}

export function raw(body: string, status = 200, headers: Record<string, string> = {}): Behaviour {
  return (response) => response.writeHead(status, headers).end(body);
}

export function completion(content: unknown, choice: object = {}, message: object = {}): Behaviour {
  return json({
    choices: [{ message: { role: 'assistant', content, ...message }, finish_reason: 'stop', ...choice }],
    usage: { prompt_tokens: 120, completion_tokens: 34 },
  });
}

export const hang: Behaviour = () => {};
export const resetConnection: Behaviour = (response) => response.socket?.resetAndDestroy();

/** Sends less than its Content-Length. */
export const cutBody: Behaviour = (response) => {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '5000' });
  response.write('{"choices":[{"mess', () => response.socket?.destroy());
};
