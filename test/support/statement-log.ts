import type { DriverObserver, SentStatement } from './observed-driver.js';

/** Records the statements that a store sends to its driver. */
export class StatementLog implements DriverObserver {
  readonly #sent: (SentStatement & { readonly rows: number })[] = [];

  afterStatement(statement: SentStatement, rows: number): void {
    this.#sent.push({ ...statement, rows });
  }

  clear(): void {
    this.#sent.length = 0;
  }

  /** All statements except those that begin or end transactions. */
  statements(): readonly SentStatement[] {
    return this.#sent.filter(({ text }) => !isBracket(text));
  }

  /** The numbers of committed transactions, of their statements, and of returned rows. */
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
