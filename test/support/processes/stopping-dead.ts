import { Socket } from 'node:net';
import Libsql from 'libsql';
import type { SessionStorage } from '../../../src/sessions/storage/session-storage.js';
import type { SummarizerSessionManager } from '../../../src/summarizer/summarizer-session.manager.js';
import { SUMMARY_PAYLOAD } from '../summary-payload.js';

/** Where in the writing of a summary a process ends. */
export type Step =
  | 'before the model is asked'
  | 'after the model answered'
  /** The statement was sent, or carried out where there is no server, and nothing was committed or heard of it. */
  | 'while it is written'
  | 'after it was written';

/** Makes this process end at a step of writing a summary, as a power cut would. */
export function stoppingDeadAt(
  step: Step,
  { storage, summaries }: { storage: SessionStorage; summaries: SummarizerSessionManager },
): void {
  if (step === 'before the model is asked') summaries.hooks.onBeforeSummary(stopDead);
  if (step === 'after the model answered') summaries.hooks.onAfterSummary(stopDead);
  if (step === 'after it was written') stopAfterAppend(storage);
  if (step === 'while it is written') {
    stopAfterSending();
    stopAfterStatement();
  }
}

function stopDead(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal needs no event loop, and nothing may happen until it is there.
  for (;;);
}

function stopAfterAppend(storage: SessionStorage): void {
  const append = storage.append.bind(storage);
  storage.append = async (commit) => {
    const outcome = await append(commit);
    return commit.events.some(({ payload }) => SUMMARY_PAYLOAD.test(payload)) ? stopDead() : outcome;
  };
}

/** What was written to a socket is with the system, which delivers it. */
function stopAfterSending(): void {
  const write = Reflect.get(Socket.prototype, '_writeGeneric') as (...args: unknown[]) => unknown;
  Reflect.set(Socket.prototype, '_writeGeneric', function (this: Socket, ...args: unknown[]) {
    const result = write.apply(this, args);
    if (piecesOf(args[1]).some((piece) => SUMMARY_PAYLOAD.test(piece))) stopDead();
    return result;
  });
}

/** Of `write`, a text or a buffer; of `writev`, several. */
function piecesOf(data: unknown): string[] {
  if (typeof data === 'string') return [data];
  if (data instanceof Uint8Array) return [Buffer.from(data).toString('latin1')];
  if (!Array.isArray(data)) return [];
  const pieces = data.map((piece: unknown) => (piece as { chunk?: unknown }).chunk ?? piece);
  // A statement may be cut anywhere.
  return [pieces.flatMap(piecesOf).join('')];
}

/** SQLite is in this process: the statement was carried out, and its transaction is open. */
function stopAfterStatement(): void {
  const prepare = Libsql.prototype.prepare as (this: Libsql.Database, text: string) => Libsql.Statement;
  Libsql.prototype.prepare = function (this: Libsql.Database, text: string) {
    const statement = prepare.call(this, text);
    for (const name of ['run', 'all'] as const) {
      const carryOut = statement[name].bind(statement) as (...values: unknown[]) => never;
      statement[name] = (...values: unknown[]) => {
        const result = carryOut(...values);
        return SUMMARY_PAYLOAD.test(JSON.stringify(values)) ? stopDead() : result;
      };
    }
    return statement;
  } as never;
}
