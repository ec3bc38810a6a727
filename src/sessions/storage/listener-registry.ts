/** Receives a message, or nothing if a message may have been missed. */
export type MessageListener = (message?: string) => void;

/** Listeners by name. A name without listeners takes no memory. */
export class ListenerRegistry {
  readonly #listeners = new Map<string, Set<MessageListener>>();

  get size(): number {
    return this.#listeners.size;
  }

  has(name: string): boolean {
    return this.#listeners.has(name);
  }

  names(): string[] {
    return [...this.#listeners.keys()];
  }

  /** Returns whether it is the first listener of this name. */
  add(name: string, listener: MessageListener): boolean {
    const listeners = this.#listeners.get(name);
    if (listeners) listeners.add(listener);
    else this.#listeners.set(name, new Set([listener]));
    return listeners === undefined;
  }

  /** Returns whether it was the last listener of this name. */
  remove(name: string, listener: MessageListener): boolean {
    const listeners = this.#listeners.get(name);
    if (!listeners?.delete(listener) || listeners.size > 0) return false;
    return this.#listeners.delete(name);
  }

  notify(name: string, message?: string): void {
    for (const listener of this.#listeners.get(name) ?? []) listener(message);
  }

  notifyAll(): void {
    for (const name of this.names()) this.notify(name);
  }
}
