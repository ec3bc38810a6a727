/** Scripts without spaces between words: each character counts for itself. */
const TERM =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]|[\p{L}\p{M}\p{N}]+/gu;

/** What a sentence speaks of. */
export function termsOf(sentence: string): readonly string[] {
  return sentence.toLowerCase().match(TERM) ?? [];
}

/** How much each term says: the more often, the more, except for what is in every other sentence. */
export class TermWeights {
  readonly #counts = new Map<string, number>();
  #sentences = 0;

  add(terms: readonly string[]): void {
    this.#sentences += 1;
    for (const term of terms) this.#counts.set(term, (this.#counts.get(term) ?? 0) + 1);
  }

  /** From 0 to a few; long sentences have no advantage, and tiny ones neither. */
  meanOf(terms: readonly string[]): number {
    const tooCommon = Math.max(4, this.#sentences / 4);
    let sum = 0;
    for (const term of terms) {
      const count = this.#counts.get(term) ?? 0;
      if (count <= tooCommon) sum += Math.log2(1 + count);
    }
    return sum / (terms.length + 4);
  }
}
