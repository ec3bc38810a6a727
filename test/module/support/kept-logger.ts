import type { LoggerService } from '@nestjs/common';

/** Records what an app logs. */
export class KeptLogger implements LoggerService {
  readonly lines: string[] = [];

  log(message: unknown): void {
    this.lines.push(`log: ${String(message)}`);
  }

  warn(message: unknown): void {
    this.lines.push(`warn: ${String(message)}`);
  }

  error(message: unknown): void {
    this.lines.push(`error: ${String(message)}`);
  }

  /** The recorded lines that match. */
  matching(pattern: RegExp): string[] {
    return this.lines.filter((line) => pattern.test(line));
  }
}
