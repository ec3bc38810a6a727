import type { Refusal } from './malformed-http.js';

/** The largest numbers of connections. 0 = no limit. */
export interface ConnectionCountLimits {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
}

/** Counts connections, in total and per client: an address, or a signed-in user. */
export class ConnectionCount {
  #all = 0;
  readonly #byClient = new Map<string, number>();

  /** Returns why one more connection of this client is refused, or `undefined`. */
  refusalFor(client: string, { maxConnections, maxConnectionsPerAddress }: ConnectionCountLimits): Refusal | undefined {
    if (maxConnections > 0 && this.#all >= maxConnections) {
      const detail = `There are ${maxConnections} connections already. Try again later.`;
      return { status: 503, code: 'LIMIT_EXCEEDED', detail };
    }
    if (maxConnectionsPerAddress > 0 && (this.#byClient.get(client) ?? 0) >= maxConnectionsPerAddress) {
      const detail = `There are ${maxConnectionsPerAddress} connections from this address already. Close one first.`;
      return { status: 429, code: 'TOO_MANY_REQUESTS', detail };
    }
    return undefined;
  }

  /** Counts one more connection. Call the returned function when it closes. */
  add(client: string): () => void {
    this.#all += 1;
    this.#byClient.set(client, (this.#byClient.get(client) ?? 0) + 1);
    return () => {
      this.#all -= 1;
      const left = (this.#byClient.get(client) ?? 0) - 1;
      if (left > 0) this.#byClient.set(client, left);
      else this.#byClient.delete(client);
    };
  }
}
