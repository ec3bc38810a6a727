import { once } from 'node:events';
import type { CliIo, OutputStream } from './io.js';

/** Nobody reads the output any more, as after `| head`. */
export class OutputClosedError extends Error {}

/** How often a terminal shows progress. */
const REFRESH_MS = 200;
/** How often a log does. */
const LOG_EVERY_MS = 10_000;

/** Writes results to stdout, and the rest to stderr. */
export class Output {
  /** Why nothing more can be written. */
  #end: Error | undefined;
  #shownAt = 0;
  #hasStatus = false;

  constructor(
    private readonly io: Pick<CliIo, 'stdout' | 'stderr'>,
    readonly isJson: boolean,
  ) {
    io.stdout.once('close', () => (this.#end ??= new OutputClosedError()));
    io.stdout.on('error', (error: NodeJS.ErrnoException) => {
      this.#end ??= error.code === 'EPIPE' ? new OutputClosedError() : error;
    });
  }

  /** Writes a result: as it is, or an object as a line of JSON with `--json`. */
  async result(text: string, value: unknown): Promise<void> {
    await this.raw(`${this.isJson ? JSON.stringify(value) : text}\n`);
  }

  /** Writes to stdout, and waits while nobody reads. */
  async raw(text: string): Promise<void> {
    if (this.#end) throw this.#end;
    this.#clearStatus();
    if (this.io.stdout.write(text)) return;
    await Promise.race([once(this.io.stdout, 'drain'), once(this.io.stdout, 'close')]).catch(() => undefined);
    if (this.#end) throw this.#end;
  }

  /** Waits until all results are written. Throws if some are lost, such as on a full disk. */
  async written(): Promise<void> {
    await new Promise<void>((done) => this.io.stdout.write('', () => done()));
    if (this.#end && !(this.#end instanceof OutputClosedError)) throw this.#end;
  }

  /** Writes lines for people to stderr. */
  note(text: string): void {
    this.#clearStatus();
    this.io.stderr.write(`${text.split('\n').map(shown).join('\n')}\n`);
  }

  /** Shows how far a command is: in one line of a terminal, else in a line now and then. */
  progress(text: () => string): void {
    if (this.isJson) return;
    const isTerminal = this.io.stderr.isTTY === true;
    const now = Date.now();
    if (this.#shownAt === 0 && !isTerminal) this.#shownAt = now;
    if (now - this.#shownAt < (isTerminal ? REFRESH_MS : LOG_EVERY_MS)) return;
    this.#shownAt = now;
    if (isTerminal) write(this.io.stderr, `${CLEAR_LINE}${text()}`);
    else write(this.io.stderr, `${text()}\n`);
    this.#hasStatus = isTerminal;
  }

  #clearStatus(): void {
    if (!this.#hasStatus) return;
    this.#hasStatus = false;
    this.io.stderr.write(CLEAR_LINE);
  }
}

const CLEAR_LINE = '\r\u001b[K';

function write(stream: OutputStream, text: string): void {
  stream.write(text);
}

const BAR_WIDTH = 24;

/** A bar of a known part. */
export function bar(part: number): string {
  const done = Math.round(Math.min(1, Math.max(0, part)) * BAR_WIDTH);
  return `[${'#'.repeat(done)}${'.'.repeat(BAR_WIDTH - done)}] ${Math.floor(part * 100)}%`;
}

/** Control characters, line breaks of Unicode, and what changes the direction of a text. */
const ACTING = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** Text of users in a line: some characters would act on the terminal. */
export function shown(text: string): string {
  return text.replaceAll(ACTING, (character) => {
    const escaped = JSON.stringify(character).slice(1, -1);
    // JSON has no need to escape those above the first 32.
    return escaped === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : escaped;
  });
}

/** A time for people. */
export function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
