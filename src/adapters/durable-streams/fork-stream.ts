import type { EventInput } from '../../sessions/domain/event.js';
import { SessionExistsError } from '../../sessions/domain/errors.js';
import type { SessionKey } from '../../sessions/domain/ids.js';
import { JSON_TYPE, type StreamData, bytesEvent, messagesEvent } from './stream-content.js';
import { StreamRefusal } from './stream-errors.js';
import { HEADERS, type RequestHeaders, wholeNumber } from './stream-headers.js';
import { seqOf } from './stream-offsets.js';
import { isProducerKey } from './stream-producers.js';
import type { StreamAnswer } from './stream-response.js';
import {
  CLOSED_FIELD,
  CONFIG_FIELD,
  type OpenStream,
  SEQ_FIELD,
  type StreamConfig,
  type StreamSessions,
  forkLabels,
  isGone,
} from './stream-session.js';
import { appendSurely, endHeaders, eventsOf, isSame, required } from './write-stream.js';

/** Creates a stream from the beginning of another one, with the same offsets. It is a copy: each lives on its own. */
export async function forkStream(
  streams: StreamSessions,
  source: SessionKey,
  key: SessionKey,
  headers: RequestHeaders,
  body: Buffer,
): Promise<StreamAnswer> {
  const original = await required(streams, source);
  if (original.isReadOnly) throw new StreamRefusal(405, 'A conversation is only read here.', { Allow: 'GET, HEAD' });
  const contentType = headers.contentType ?? original.config.contentType;
  if (contentType !== original.config.contentType) throw new StreamRefusal(409, 'A fork has the type of its source.');
  const tail = await streams.tail(original);
  const given = headers.get(HEADERS.forkOffset);
  const atSeq = given === undefined ? tail : given === '-1' ? 0 : seqOf(given);
  if (atSeq > tail) throw new StreamRefusal(400, 'The source ends before that offset.');
  const subOffset = wholeNumber(headers.get(HEADERS.forkSubOffset) ?? '0', HEADERS.forkSubOffset);
  const part = subOffset > 0 ? await partAfter(streams, original, atSeq, subOffset) : [];
  const config = configOf(original.config, headers, contentType, {
    source: source.sessionId,
    forkedAt: `${atSeq}+${subOffset}`,
  });

  const events = [...part, ...eventsOf(contentType, body)];
  const existing = await streams.open(key);
  const answer = (seq: number, status: number): StreamAnswer => ({
    status,
    headers: { 'Content-Type': contentType, ...endHeaders(seq, headers.closes) },
  });
  if (existing) {
    if (isSame(existing.config, config)) return answer(await streams.tail(existing), 200);
    throw new StreamRefusal(409, 'There is a stream with other settings.');
  }
  if (!(await copied(streams, source, key, atSeq, config))) {
    throw new StreamRefusal(409, 'There is a stream with other settings.');
  }
  await appendSurely(streams, key, events, (copy) => ({
    fields: { [CONFIG_FIELD]: config, ...(headers.closes && { [CLOSED_FIELD]: {} }) },
    fieldRemovals: [...(headers.closes ? [] : [CLOSED_FIELD]), SEQ_FIELD].filter(
      (name) => name in copy.session.metadata.fields,
    ),
    labels: forkLabels(source.sessionId, original.session.createTime),
    stateRemovals: Object.keys(copy.session.state.getAll()).filter(isProducerKey),
  }));
  await requireSource(streams, original, key);
  return answer(await streams.tail(await required(streams, key)), 201);
}

/** Takes the fork back if its source was deleted before the fork could be found: the source would not have been kept as gone. */
async function requireSource(streams: StreamSessions, source: OpenStream, key: SessionKey): Promise<void> {
  if (await streams.reopen(source).catch((error: unknown) => isGone(error) && undefined)) return;
  const fork = await streams.open(key);
  if (fork?.config.source === source.key.sessionId) await streams.delete(fork);
  throw new StreamRefusal(404, 'There is no such stream.');
}

/** Returns `false` if there is a stream already. */
async function copied(
  streams: StreamSessions,
  source: SessionKey,
  key: SessionKey,
  atSeq: number,
  config: StreamConfig,
): Promise<boolean> {
  if (atSeq === 0) return streams.create(key, config, false);
  try {
    await streams.service.forkSession({ ...source, atSeq, newSessionId: key.sessionId });
    return true;
  } catch (error) {
    if (error instanceof SessionExistsError) return false;
    throw error;
  }
}

/** A fork lives as long as it is asked to, or as its source. */
function configOf(
  { ttlSeconds, expiresAt }: StreamConfig,
  { lifetime }: RequestHeaders,
  contentType: string,
  fork: Pick<StreamConfig, 'source' | 'forkedAt'>,
): StreamConfig {
  const own = Object.keys(lifetime).length > 0;
  const inherited = { ...(ttlSeconds !== undefined && { ttlSeconds }), ...(expiresAt !== undefined && { expiresAt }) };
  return { contentType, ...(own ? lifetime : inherited), ...fork };
}

/** The first messages or bytes after an offset. */
async function partAfter(
  streams: StreamSessions,
  source: OpenStream,
  atSeq: number,
  count: number,
): Promise<EventInput[]> {
  const { data } = await streams.read(source, atSeq);
  const isJson = source.config.contentType === JSON_TYPE;
  const [next] = data;
  const length = (part: StreamData): number => (isJson ? part.messages.length : part.bytes.length);
  if (!next || data.reduce((sum, part) => sum + length(part), 0) < count) {
    throw new StreamRefusal(400, 'The source ends before that position.');
  }
  if (isJson) return [messagesEvent(data.flatMap(({ messages }) => messages).slice(0, count))];
  return [bytesEvent(Buffer.concat(data.map(({ bytes }) => bytes)).subarray(0, count))];
}
