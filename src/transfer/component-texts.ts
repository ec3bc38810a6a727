import { EMPTY_DIGEST, digestAfter } from '../sessions/domain/stored/component.js';
import { TransferFileError } from './transfer-errors.js';
import type { ComponentLine } from './transfer-records.js';

/** Checks that the lines of a value or a list follow each other, and are all of it. */
export class ComponentTexts {
  #count = 0;
  #digest = EMPTY_DIGEST;

  constructor(private readonly first: ComponentLine) {}

  /** Whether all has come. */
  get isComplete(): boolean {
    return this.#count === this.first.length;
  }

  /** @param at line of the file */
  take({ session, name, type, length, digest, from, items }: ComponentLine, at: number): void {
    const { first } = this;
    const isNext =
      session === first.session &&
      name === first.name &&
      type === first.type &&
      from === this.#count &&
      length === first.length &&
      digest === first.digest;
    if (!isNext) throw new TransferFileError('a part of a component is missing before it', at);
    this.#count += items.length;
    this.#digest = digestAfter(this.#digest, items);
    const isWhole = this.#count < length ? items.length > 0 : this.#count === length && this.#digest === digest;
    if (!isWhole) throw new TransferFileError('the component is incomplete or was changed', at);
  }
}
