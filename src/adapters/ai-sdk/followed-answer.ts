import { followInvocation, invocationOfMessage, isDiscard, type RunEvent } from '../../agents/index.js';
import type { LoggedEvent, Session, SessionKey } from '../../index.js';
import { AnswerChunks } from './answer-chunks.js';
import { ChatStream } from './chat-stream.js';
import type { ReadingOptions } from './event-items.js';
import { sdkFieldsOf } from './sdk-fields.js';
import { formatAnswerMessageId, toChatEntries } from './ui-messages.js';

/** What a page is told that has a part of an answer which is taken back. */
export const BEGINS_ANEW = 'The answer begins anew: resume it.';

/** An answer that some process is giving. */
export interface RunningAnswer {
  readonly key: SessionKey;
  readonly session: Session;
  readonly invocationId: string;
  readonly agentName: string;
}

/** The whole answer, from its beginning to its end, as it is stored and said. */
export function followedAnswer(
  env: Parameters<typeof followInvocation>[0],
  { key, session, invocationId, agentName }: RunningAnswer,
  options: ReadingOptions,
): ChatStream {
  const left = new AbortController();
  const stream = new ChatStream(() => left.abort());
  const message = session.events.find((event) => invocationOfMessage(event) === invocationId);
  const continued = message && sdkFieldsOf(message)?.continues;
  const messageId = continued ?? formatAnswerMessageId(invocationId);
  const chunks = new AnswerChunks(messageId, options);
  const send = (sent: ReturnType<AnswerChunks['add']>): void => sent.forEach((chunk) => stream.send(chunk));
  send(chunks.start());
  const earlier = continued === undefined ? [] : earlierEvents(session, continued, invocationId, options);
  for (const event of earlier) send(chunks.add(event));
  const followed = { key, invocationId, agentName, afterSeq: message?.seq ?? session.version };
  // The answer begins anew. What the page has of it cannot be taken back: it resumes a new stream.
  const anew = new AbortController();
  const add = (event: RunEvent): void => {
    if (isDiscard(event) && chunks.hasSaidPart) anew.abort();
    if (!anew.signal.aborted) send(chunks.add(event));
  };
  followInvocation(env, followed, { add }, AbortSignal.any([left.signal, anew.signal]))
    .then(({ events, isClosed }) => {
      send(chunks.end());
      if (anew.signal.aborted) {
        stream.send({ type: 'error', errorText: BEGINS_ANEW });
        return;
      }
      const last = events.at(-1);
      const isStopped = last?.interrupted === true && last.errorCode === 'STOPPED';
      if (isStopped) stream.send({ type: 'abort' });
      else if (isClosed && last?.interrupted !== true) stream.send({ type: 'finish' });
      else stream.send({ type: 'error', errorText: 'The answer was interrupted.' });
    })
    .catch((error: unknown) => {
      env.onError(error);
      stream.send({ type: 'error', errorText: 'An error occurred.' });
    })
    .finally(() => stream.end());
  return stream;
}

/** What the message held before. */
function earlierEvents(
  { events }: Session,
  messageId: string,
  invocationId: string,
  options: ReadingOptions,
): readonly LoggedEvent[] {
  const entry = toChatEntries(events, options).find(({ message }) => message.id === messageId);
  return (entry?.events ?? []).filter((event) => event.invocationId !== invocationId);
}
