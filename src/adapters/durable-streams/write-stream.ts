import { createHash } from 'node:crypto';
import type { EventInput } from '../../sessions/domain/event.js';
import type { SessionKey } from '../../sessions/domain/ids.js';
import { JSON_TYPE, dataEvents, messagesOf } from './stream-content.js';
import { StreamRefusal } from './stream-errors.js';
import { HEADERS, type Producer, type RequestHeaders } from './stream-headers.js';
import { offsetOf } from './stream-offsets.js';
import { type ProducerState, isNewAppend, producerKey, producerStateOf } from './stream-producers.js';
import type { StreamAnswer } from './stream-response.js';
import {
  CLOSED_FIELD,
  type OpenStream,
  SEQ_FIELD,
  type StreamChange,
  type StreamConfig,
  type StreamSessions,
} from './stream-session.js';

const DEFAULT_TYPE = 'application/octet-stream';
const MOST_TRIES = 100;
/** More does not fit into one commit. */
const MOST_EVENTS = 4;
const MOST_EVENT_BYTES = 1_000_000;

/** Creates a stream, or finds it as it is asked for. */
export async function putStream(
  streams: StreamSessions,
  key: SessionKey,
  headers: RequestHeaders,
  body: Buffer,
): Promise<StreamAnswer> {
  const contentType = headers.contentType ?? DEFAULT_TYPE;
  const config: StreamConfig = { contentType, ...headers.lifetime };
  const events = eventsOf(contentType, body);
  const closes = headers.closes;
  await streams.open(key);
  const isNew = await streams.create(key, config, closes && events.length === 0);
  if (isNew && events.length > 0) {
    const change = closes ? { fields: { [CLOSED_FIELD]: {} } } : {};
    return created(config, await appendSurely(streams, key, events, change), closes, 201);
  }
  const stream = await required(streams, key);
  if (!isNew && (stream.isReadOnly || !isSame(stream.config, config) || stream.isClosed !== closes)) {
    throw new StreamRefusal(409, 'There is a stream with other settings.');
  }
  return created(config, await streams.tail(stream), stream.isClosed, isNew ? 201 : 200);
}

/** Appends, also when others append to the new stream at the same time. */
export async function appendSurely(
  streams: StreamSessions,
  key: SessionKey,
  events: readonly EventInput[],
  change: StreamChange | ((stream: OpenStream) => StreamChange),
): Promise<number> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const stream = await required(streams, key);
    if (stream.isClosed && typeof change !== 'function') throw new StreamRefusal(409, 'The stream is closed.');
    const seq = await streams.tryAppend(stream, events, typeof change === 'function' ? change(stream) : change);
    if (seq !== undefined) return seq;
  }
  throw new StreamRefusal(503, 'Too many writers at once. Try again.', { 'Retry-After': '1' });
}

function created({ contentType }: StreamConfig, seq: number, isClosed: boolean, status: number): StreamAnswer {
  return { status, headers: { 'Content-Type': contentType, ...endHeaders(seq, isClosed) } };
}

export function isSame(a: StreamConfig, b: StreamConfig): boolean {
  return (
    a.contentType === b.contentType &&
    a.ttlSeconds === b.ttlSeconds &&
    a.source === b.source &&
    a.forkedAt === b.forkedAt &&
    momentOf(a) === momentOf(b)
  );
}

function momentOf({ expiresAt }: StreamConfig): number {
  return expiresAt === undefined ? 0 : Date.parse(expiresAt);
}

/** Appends, closes, or both at once. */
export async function postStream(
  streams: StreamSessions,
  key: SessionKey,
  headers: RequestHeaders,
  body: Buffer,
): Promise<StreamAnswer> {
  const producer = headers.producer;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const stream = await required(streams, key);
    const answer = await tryPost(streams, stream, { headers, body, producer });
    if (answer) return answer;
  }
  throw new StreamRefusal(503, 'Too many writers at once. Try again.', { 'Retry-After': '1' });
}

interface Post {
  readonly headers: RequestHeaders;
  readonly body: Buffer;
  readonly producer: Producer | undefined;
}

async function tryPost(streams: StreamSessions, stream: OpenStream, post: Post): Promise<StreamAnswer | undefined> {
  const { headers, body, producer } = post;
  if (stream.isReadOnly) throw new StreamRefusal(405, 'A conversation is only read here.', { Allow: 'GET, HEAD' });
  const { closes } = headers;
  if (stream.isClosed) return closedAnswer(streams, stream, post);
  if (body.length === 0 && !closes) throw new StreamRefusal(400, 'The body is empty.');
  if (body.length > 0) assertType(stream, headers.contentType);
  const events = body.length > 0 ? eventsOf(stream.config.contentType, body) : [];
  if (body.length > 0 && events.length === 0) throw new StreamRefusal(400, 'The array is empty.');

  const change: StreamChange = {};
  const fields: Record<string, unknown> = {};
  if (producer) {
    const state = producerState(stream, producer);
    if (!isNewAppend(producer, state)) return duplicate(producer, state, await streams.tail(stream));
    change.stateDelta = { [producerKey(producer.id)]: { epoch: producer.epoch, seq: producer.seq } };
  }
  const streamSeq = headers.get(HEADERS.seq);
  if (streamSeq !== undefined) {
    assertLater(streamSeq, stream.session.metadata.fields[SEQ_FIELD]);
    fields[SEQ_FIELD] = streamSeq;
  }
  if (closes) fields[CLOSED_FIELD] = producer ? { by: closerOf(producer) } : {};
  if (Object.keys(fields).length > 0) change.fields = fields;
  const seq = await streams.tryAppend(stream, events, change);
  if (seq === undefined) return undefined;
  const end = events.length > 0 ? seq : await streams.tail(stream);
  return {
    status: producer && body.length > 0 ? 200 : 204,
    headers: { ...endHeaders(end, closes), ...(producer && producerHeaders(producer.epoch, producer.seq)) },
  };
}

/** Closing again is no error, and neither is the append that closed the stream. */
async function closedAnswer(
  streams: StreamSessions,
  stream: OpenStream,
  { headers, body, producer }: Post,
): Promise<StreamAnswer> {
  const end = endHeaders(await streams.tail(stream), true);
  const closed = stream.session.metadata.fields[CLOSED_FIELD] as { by?: string } | undefined;
  if (producer && closed?.by === closerOf(producer)) {
    return { status: 204, headers: { ...end, ...producerHeaders(producer.epoch, producer.seq) } };
  }
  if (headers.closes && body.length === 0 && !producer) return { status: 204, headers: end };
  throw new StreamRefusal(409, 'The stream is closed.', end);
}

function closerOf({ id, epoch, seq }: Producer): string {
  return createHash('sha256')
    .update(JSON.stringify([id, epoch, seq]))
    .digest('base64url');
}

function producerState({ session }: OpenStream, { id }: Producer): ProducerState | undefined {
  return producerStateOf(session.state.get(producerKey(id)));
}

function duplicate({ epoch, seq }: Producer, state: ProducerState | undefined, tail: number): StreamAnswer {
  return { status: 204, headers: { ...endHeaders(tail, false), ...producerHeaders(epoch, state?.seq ?? seq) } };
}

function producerHeaders(epoch: number, seq: number): Record<string, string> {
  return { [HEADERS.producerEpoch]: `${epoch}`, [HEADERS.producerSeq]: `${seq}` };
}

export function endHeaders(seq: number, isClosed: boolean): Record<string, string> {
  return { [HEADERS.nextOffset]: offsetOf(seq), ...(isClosed && { [HEADERS.closed]: 'true' }) };
}

function assertType({ config }: OpenStream, contentType: string | undefined): void {
  if (contentType === undefined) throw new StreamRefusal(400, 'Content-Type is missing.');
  if (contentType !== config.contentType) throw new StreamRefusal(409, `The stream has ${config.contentType}.`);
}

/** Compared byte by byte. */
function assertLater(seq: string, last: unknown): void {
  if (typeof last !== 'string' || Buffer.compare(Buffer.from(seq), Buffer.from(last)) > 0) return;
  throw new StreamRefusal(409, 'Stream-Seq must be greater than the last one.');
}

export function eventsOf(contentType: string, body: Buffer): readonly EventInput[] {
  if (body.length === 0) return [];
  if (contentType === JSON_TYPE && messagesOf(body).length === 0) return [];
  const events = dataEvents(contentType, body);
  const isTooLong = events.some((event) => Buffer.byteLength(JSON.stringify(event)) > MOST_EVENT_BYTES);
  if (isTooLong || events.length > MOST_EVENTS)
    throw new StreamRefusal(413, 'The body is too large for one append. Send less at once.');
  return events;
}

export async function required(streams: StreamSessions, key: SessionKey): Promise<OpenStream> {
  const stream = await streams.open(key);
  if (!stream) throw new StreamRefusal(404, 'There is no such stream.');
  return stream;
}
