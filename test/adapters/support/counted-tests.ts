type Body = (...given: never[]) => unknown;

/** What became of tests that another package, or a suite of its own, defines. */
export class CountedTests {
  defined = 0;
  ran = 0;
  passed = 0;

  /** Counts the tests that `define` defines. */
  define(define: () => void): void {
    const original = globalThis.it;
    const counting = (name: string, body: Body, timeout?: number): void => original(name, this.#counted(body), timeout);
    const each = (table: readonly unknown[]) => (name: string, body: Body, timeout?: number) => {
      for (let index = 0; index < table.length; index++) this.defined++;
      original.each(table)(name, this.#counted(body, 0) as (...given: unknown[]) => unknown, timeout);
    };
    globalThis.it = Object.assign(counting, original, { each }) as typeof it;
    globalThis.test = globalThis.it;
    try {
      define();
    } finally {
      globalThis.it = original;
      globalThis.test = original;
    }
  }

  #counted(body: Body, count = 1): () => Promise<void> {
    this.defined += count;
    return async (...given: never[]) => {
      this.ran++;
      await body(...given);
      this.passed++;
    };
  }
}
