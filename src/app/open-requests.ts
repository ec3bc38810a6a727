import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** The requests that a server has not answered yet. */
export class OpenRequests {
  readonly #responses = new Set<ServerResponse>();
  #isEnding = false;
  #whenNone: () => void = () => undefined;

  constructor(private readonly server: Server) {
    server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => this.#follow(response));
  }

  get count(): number {
    return this.#responses.size;
  }

  /** Accepts no more connections, and waits until all requests are answered; each answer is the last of its connection. */
  async finish(): Promise<void> {
    this.#isEnding = true;
    for (const response of this.#responses) endConnectionWith(response);
    this.server.close();
    if (this.count > 0) await new Promise<void>((resolve) => (this.#whenNone = resolve));
    this.server.closeIdleConnections();
  }

  /** Cuts the connections of all that is still open. */
  cutOff(): void {
    this.server.closeAllConnections();
  }

  #follow(response: ServerResponse): void {
    this.#responses.add(response);
    if (this.#isEnding) endConnectionWith(response);
    response.once('close', () => {
      this.#responses.delete(response);
      if (this.count === 0) this.#whenNone();
    });
  }
}

function endConnectionWith(response: ServerResponse): void {
  if (!response.headersSent) response.shouldKeepAlive = false;
}
