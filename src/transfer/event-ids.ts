import { TransferFileError } from './transfer-errors.js';

/** The ids of the events that come: stores differ in what they do with two of one id. */
export class EventIds {
  readonly #ids = new Set<string>();

  /** @param at the number of the line */
  add(id: string, at: number): void {
    if (this.#ids.has(id)) throw new TransferFileError('the session has another event of this id', at);
    this.#ids.add(id);
  }
}
