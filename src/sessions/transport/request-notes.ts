/** What was noted of each request, for as long as the request lives. */
export class RequestNotes {
  readonly #notes = new WeakMap<object, Set<string>>();

  /** Returns whether it is new. What is no object, such as a missing request, is never known. */
  add(request: unknown, note: string): boolean {
    if (typeof request !== 'object' || request === null) return true;
    const known = this.#notes.get(request) ?? new Set();
    this.#notes.set(request, known);
    return known.size < known.add(note).size;
  }

  has(request: object, note: string): boolean {
    return this.#notes.get(request)?.has(note) === true;
  }
}
