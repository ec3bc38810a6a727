import { Socket } from 'node:net';
import Libsql from 'libsql';
import type { SessionStorage } from '../../../src/sessions/storage/session-storage.js';
import type { SummarizerSessionManager } from '../../../src/summarizer/summarizer-session.manager.js';
import { SUMMARY_PAYLOAD } from '../summary-payload.js';

/** The step of writing a summary at which a process is killed. */
export type Step =
  | 'before the model call'
  | 'after the model call'
  /** The statement was sent (or executed, for SQLite), but not committed. */
  | 'during the write'
  | 'after the write';

/** Kills this process at a step of writing a summary. */
export function killAt(
  step: Step,
  { storage, summaries }: { storage: SessionStorage; summaries: SummarizerSessionManager },
): void {
  if (step === 'before the model call') summaries.hooks.onBeforeSummary(killSelf);
  if (step === 'after the model call') summaries.hooks.onAfterSummary(killSelf);
  if (step === 'after the write') stopAfterAppend(storage);
  if (step === 'during the write') {
    stopAfterSending();
    stopAfterStatement();
  }
}

function killSelf(): never {
  process.kill(process.pid, 'SIGKILL');
  // Nothing may run until the signal arrives.
  for (;;);
}

function stopAfterAppend(storage: SessionStorage): void {
  const append = storage.append.bind(storage);
  storage.append = async (commit) => {
    const outcome = await append(commit);
    return commit.events.some(({ payload }) => SUMMARY_PAYLOAD.test(payload)) ? killSelf() : outcome;
  };
}

/** Data that was written to a socket is still delivered. */
function stopAfterSending(): void {
  const write = Reflect.get(Socket.prototype, '_writeGeneric') as (...args: unknown[]) => unknown;
  Reflect.set(Socket.prototype, '_writeGeneric', function (this: Socket, ...args: unknown[]) {
    const result = write.apply(this, args);
    if (piecesOf(args[1]).some((piece) => SUMMARY_PAYLOAD.test(piece))) killSelf();
    return result;
  });
}

/** The data of `write`, or of `writev`, which has several chunks. */
function piecesOf(data: unknown): string[] {
  if (typeof data === 'string') return [data];
  if (data instanceof Uint8Array) return [Buffer.from(data).toString('latin1')];
  if (!Array.isArray(data)) return [];
  const pieces = data.map((piece: unknown) => (piece as { chunk?: unknown }).chunk ?? piece);
  // A statement may be split anywhere.
  return [pieces.flatMap(piecesOf).join('')];
}

/** SQLite runs in this process: the statement was executed, and its transaction is open. */
function stopAfterStatement(): void {
  const prepare = Libsql.prototype.prepare as (this: Libsql.Database, text: string) => Libsql.Statement;
  Libsql.prototype.prepare = function (this: Libsql.Database, text: string) {
    const statement = prepare.call(this, text);
    for (const name of ['run', 'all'] as const) {
      const carryOut = statement[name].bind(statement) as (...values: unknown[]) => never;
      statement[name] = (...values: unknown[]) => {
        const result = carryOut(...values);
        return SUMMARY_PAYLOAD.test(JSON.stringify(values)) ? killSelf() : result;
      };
    }
    return statement;
  } as never;
}
