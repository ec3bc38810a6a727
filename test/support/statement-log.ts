import type { DriverObserver, SentStatement } from './observed-driver.js';

/** Remembers what a store sends to its driver. */
export class StatementLog implements DriverObserver {
  readonly #sent: (SentStatement & { readonly rows: number })[] = [];

  afterStatement(statement: SentStatement, rows: number): void {
    this.#sent.push({ ...statement, rows });
  }

  clear(): void {
    this.#sent.length = 0;
  }

  /** All but those that begin and end transactions. */
  statements(): readonly SentStatement[] {
    return this.#sent.filter(({ text }) => !isBracket(text));
  }

  /** How many transactions were committed, how many statements ran in them, and how many rows those that read brought. */
  counts(): { transactions: number; reads: number; writes: number; rows: number } {
    const reads = this.#sent.filter(({ text }) => /^\s*SELECT\b/.test(text));
    return {
      transactions: this.#sent.filter(({ text }) => text === 'COMMIT').length,
      reads: reads.length,
      writes: this.statements().length - reads.length,
      rows: reads.reduce((sum, { rows }) => sum + rows, 0),
    };
  }
}

function isBracket(text: string): boolean {
  return /^(BEGIN|COMMIT|ROLLBACK)\b/.test(text);
}
