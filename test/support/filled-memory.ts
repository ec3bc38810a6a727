import { EventEmitter } from 'node:events';
import { AnswerMemory } from '../../src/sessions/transport/answer-memory.js';
import { DEFAULT_STREAM_LIMITS } from '../../src/sessions/transport/stream-limits.js';

const { maxBufferedBytes } = DEFAULT_STREAM_LIMITS;
const OPEN = { closed: false, writableEnded: false, writableFinished: false, writableNeedDrain: false };

/** Takes all memory of answers that a client may have. Default: one who is not signed in. */
export async function fillMemory(
  client = 'address 127.0.0.1',
): Promise<{ readonly giveBack: () => void; readonly asked: AnswersAsked }> {
  const share = await AnswerMemory.ofProcess.reserve({
    connection: Object.assign(new EventEmitter(), OPEN),
    client,
    bytes: maxBufferedBytes / 4,
    maxBytes: maxBufferedBytes,
    onStall: () => undefined,
    signal: new AbortController().signal,
  });
  return { giveBack: () => share?.release(), asked: jest.spyOn(AnswerMemory.ofProcess, 'reserve') };
}

export type AnswersAsked = jest.SpiedFunction<AnswerMemory['reserve']>;
