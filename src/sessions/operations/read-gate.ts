/** Memory that a page of a watch holds until its events are handed out. */
export interface PageShare {
  /** Corrects what was reserved, once the page is read. */
  resize(bytes: number): void;
  /** Returns the memory. */
  release(): void;
}

/** Admits the pages of a watch, to bound the memory of many watches together. */
export interface ReadGate {
  /** Waits until a page of up to `bytes` may be read. Returns `undefined` if `signal` is aborted first. */
  enter(bytes: number, signal: AbortSignal): Promise<PageShare | undefined>;
}
