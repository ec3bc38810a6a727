import type { Care } from '../domain/background/work-claims.js';

/** Whether work may begin. Otherwise it has to wait in the store: another suspect is in progress, or the others do not end. */
export type Entry = 'allowed' | 'taken' | 'busy';

/**
 * Decides what the consumers of this process may handle at the same time: any number of usual sessions and one suspect, or one
 * session alone.
 */
export class WorkGate {
  #running = 0;
  /** A suspect, or a session that is alone or waits for that. */
  #hasSuspect = false;
  #isAlone = false;
  /** Lets the session begin that waits to be alone. */
  #beginAlone: (() => void) | undefined;

  /** @param onOpen called when usual work can be claimed again, or another suspect can */
  constructor(private readonly onOpen: () => void) {}

  /** Whether work can be claimed. */
  get isOpen(): boolean {
    return !this.#isAlone && !this.#beginAlone;
  }

  /**
   * Resolves when the work may begin, or not; call `leave` after it.
   *
   * @param waitMs how long the others may take to end, if it has to be alone
   */
  async enter(care: Care, waitMs: number): Promise<Entry> {
    if (this.#isAlone || (care !== 'usual' && this.#hasSuspect)) return 'taken';
    if (care !== 'usual') this.#hasSuspect = true;
    if (care === 'alone' && this.#running > 0) return this.#waitForOthers(waitMs);
    this.#begin(care);
    return 'allowed';
  }

  leave(care: Care): void {
    this.#running--;
    if (care !== 'usual') this.#endSuspect();
    if (this.#running === 0) this.#beginAlone?.();
  }

  #begin(care: Care): void {
    this.#running++;
    this.#isAlone = care === 'alone';
  }

  #endSuspect(): void {
    this.#hasSuspect = false;
    this.#isAlone = false;
    this.#beginAlone = undefined;
    this.onOpen();
  }

  #waitForOthers(waitMs: number): Promise<Entry> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#endSuspect();
        resolve('busy');
      }, waitMs);
      this.#beginAlone = () => {
        clearTimeout(timer);
        this.#beginAlone = undefined;
        this.#begin('alone');
        resolve('allowed');
      };
    });
  }
}
