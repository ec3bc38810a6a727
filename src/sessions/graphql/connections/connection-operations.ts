const ofConnections = new WeakMap<object, ConnectionOperations>();

/**
 * The operations of a connection that have not ended. graphql-ws forgets one that the client completes while it begins, and then takes
 * the next one with the same id for it: that would get the events of both, and streams would outlive their connection.
 */
export class ConnectionOperations {
  /** Each operation is known by its payload. */
  readonly #ids = new Map<object, string>();
  /** The newest operation of each id. */
  readonly #newest = new Map<string, object>();

  static of(connection: object): ConnectionOperations {
    const known = ofConnections.get(connection);
    if (known) return known;
    const operations = new ConnectionOperations();
    ofConnections.set(connection, operations);
    return operations;
  }

  get size(): number {
    return this.#ids.size;
  }

  begin(id: string, payload: object): void {
    this.#ids.set(payload, id);
    this.#newest.set(id, payload);
  }

  end(id: string, payload: object): void {
    this.#ids.delete(payload);
    if (this.#newest.get(id) === payload) this.#newest.delete(id);
  }

  /**
   * Never returns if another operation has taken the place of this one: whatever graphql-ws did next would be done to that one.
   *
   * @param result what nobody will read
   */
  async leaveIfReplaced(id: string, payload: object, result?: unknown): Promise<void> {
    const newest = this.#newest.get(id);
    if (newest === undefined || newest === payload) return;
    this.end(id, payload);
    if (isIterator(result)) await result.return?.();
    await new Promise(() => undefined);
  }
}

function isIterator(result: unknown): result is AsyncIterator<unknown> {
  return typeof result === 'object' && result !== null && Symbol.asyncIterator in result;
}
