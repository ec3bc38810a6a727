import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { SessionKey } from '../../sessions/domain/ids.js';
import { StreamRefusal } from './stream-errors.js';
import { type StreamData, bodyOf, isText } from './stream-content.js';
import { nextCursor } from './stream-cursor.js';
import { HEADERS, type RequestHeaders } from './stream-headers.js';
import { type StreamStart, offsetOf, startOf } from './stream-offsets.js';
import { type StreamAnswer, send } from './stream-response.js';
import { type OpenStream, type ReadData, type StreamSessions } from './stream-session.js';
import { endHeaders, required } from './write-stream.js';

/** How long live reads last. */
export interface LiveTimes {
  readonly longPollMs: number;
  readonly sseMs: number;
}

/** A read of a stream. */
export interface StreamRead {
  readonly streams: StreamSessions;
  readonly key: SessionKey;
  readonly headers: RequestHeaders;
  readonly query: URLSearchParams;
  readonly response: ServerResponse;
  readonly times: LiveTimes;
}

export async function headStream(streams: StreamSessions, key: SessionKey): Promise<StreamAnswer> {
  const stream = await required(streams, key);
  const { contentType, ttlSeconds, expiresAt } = stream.config;
  return {
    status: 200,
    headers: {
      'Content-Type': contentType,
      ...endHeaders(await streams.tail(stream), stream.isClosed),
      [HEADERS.ttl]: ttlSeconds === undefined ? undefined : `${ttlSeconds}`,
      [HEADERS.expiresAt]: expiresAt,
    },
  };
}

/** Reads what is there, or waits for it. */
export async function getStream(read: StreamRead): Promise<void> {
  const { streams, key, query, headers, response } = read;
  const live = query.get('live');
  const start = startOf(query);
  if (live !== null && live !== 'long-poll' && live !== 'sse')
    throw new StreamRefusal(400, 'live is long-poll or sse.');
  if (live !== null && start === undefined) throw new StreamRefusal(400, 'Live reads need an offset.');
  const stream = await required(streams, key);
  assertInside(stream, start);
  await streams.touch(stream);
  const from = start === 'now' ? await streams.tail(stream) : (start ?? 0);
  if (live === 'sse') return sendEvents(read, stream, from);
  if (live === 'long-poll') return longPoll(read, stream, from);
  const found = start === 'now' ? { data: [], seq: from, isUpToDate: true } : await streams.read(stream, from);
  const { seq, isEnd, common } = partOf(stream, from, found);
  const tag = `"${stream.session.createTime}:${from}:${seq}${isEnd ? ':c' : ''}"`;
  if (start !== 'now' && headers.get('If-None-Match') === tag)
    return send(response, { status: 304, headers: { ETag: tag } });
  const body = bodyOf(stream.config.contentType, found.data);
  send(response, { status: 200, headers: { ...common, ...(start !== 'now' && { ETag: tag }) }, body });
}

/** An offset after the end is one of an earlier stream with this path, or of none. What comes next would not be read. */
function assertInside({ session }: OpenStream, start: StreamStart | undefined): void {
  if (typeof start === 'number' && start > session.version) {
    throw new StreamRefusal(400, 'The stream ends before that offset.');
  }
}

/** What is said of a part, and whether the stream ends with it. */
function partOf(stream: OpenStream, from: number, { data, isUpToDate }: ReadData) {
  const seq = data.at(-1)?.seq ?? from;
  const isEnd = isUpToDate && stream.isClosed;
  const common = {
    'Content-Type': stream.config.contentType,
    ...endHeaders(seq, isEnd),
    ...(isUpToDate && { [HEADERS.upToDate]: 'true' }),
  };
  return { seq, isEnd, common };
}

async function longPoll(
  { streams, query, response, times }: StreamRead,
  first: OpenStream,
  from: number,
): Promise<void> {
  const cursor = { [HEADERS.cursor]: nextCursor(query.get('cursor') ?? undefined) };
  const stop = stopAfter(response, times.longPollMs);
  let stream = first;
  try {
    for (let seen = from; ;) {
      const found = await streams.read(stream, seen);
      const { common, isEnd } = partOf(stream, from, found);
      if (found.data.length > 0) {
        return send(response, {
          status: 200,
          headers: { ...common, ...cursor },
          body: bodyOf(stream.config.contentType, found.data),
        });
      }
      if (isEnd || stop.signal.aborted) {
        const { 'Content-Type': _type, ...others } = common;
        return send(response, { status: 204, headers: { ...others, ...cursor } });
      }
      seen = Math.max(seen, found.seq);
      const now = await streams.changed(stream, seen, stop.signal);
      if (!now) throw new StreamRefusal(404, 'There is no such stream.');
      stream = now;
    }
  } finally {
    stop.clear();
  }
}

async function sendEvents(
  { streams, query, response, times }: StreamRead,
  first: OpenStream,
  from: number,
): Promise<void> {
  const { contentType } = first.config;
  const stop = stopAfter(response, times.sseMs);
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache, no-transform',
    Connection: 'keep-alive',
    ...(!isText(contentType) && { [HEADERS.sseEncoding]: 'base64' }),
  });
  response.flushHeaders();
  let cursor = query.get('cursor') ?? undefined;
  let stream: OpenStream | undefined = first;
  let isFirst = true;
  try {
    for (let [seen, place] = [from, from]; stream && !response.destroyed;) {
      const found = await streams.read(stream, seen);
      const { seq, isEnd } = partOf(stream, place, found);
      if (found.data.length > 0) response.write(dataText(contentType, found.data));
      if (found.data.length > 0 || isFirst || isEnd) {
        cursor = nextCursor(cursor);
        response.write(
          eventText(
            'control',
            JSON.stringify({
              streamNextOffset: offsetOf(seq),
              ...(isEnd ? { streamClosed: true } : { streamCursor: cursor }),
              ...(found.isUpToDate && { upToDate: true }),
            }),
          ),
        );
      }
      isFirst = false;
      await drained(response, stop.signal);
      if (isEnd || stop.signal.aborted) return;
      place = seq;
      seen = Math.max(seen, found.seq);
      const same: OpenStream = stream;
      const next = found.isUpToDate ? streams.changed(same, seen, stop.signal) : streams.reopen(same);
      stream = await next.catch(undefinedIfRefused);
    }
  } finally {
    stop.clear();
    response.end();
  }
}

/** The status was sent before. */
function undefinedIfRefused(error: unknown): undefined {
  if (!(error instanceof StreamRefusal)) throw error;
}

/** Waits for a slow client, so that only what it takes is read from the store. */
async function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  if (response.writableNeedDrain && !signal.aborted) await once(response, 'drain', { signal }).catch(() => undefined);
}

function dataText(contentType: string, data: readonly StreamData[]): string {
  const body = bodyOf(contentType, data);
  return eventText('data', isText(contentType) ? body.toString() : body.toString('base64'));
}

/** No text can end the event or begin another: each line is marked, also after a lone carriage return. */
function eventText(name: string, text: string): string {
  // Readers strip one space after the colon.
  const lines = text.split(/\r\n|\r|\n/).map((line) => `data:${line.startsWith(' ') ? ' ' : ''}${line}\n`);
  return `event: ${name}\n${lines.join('')}\n`;
}

/** A signal for the end of a live read: the time is over, or the client is gone. */
function stopAfter(response: ServerResponse, ms: number): { readonly signal: AbortSignal; readonly clear: () => void } {
  const stop = new AbortController();
  const abort = (): void => stop.abort();
  const timer = setTimeout(abort, ms);
  response.once('close', abort);
  return {
    signal: stop.signal,
    clear: () => {
      clearTimeout(timer);
      response.off('close', abort);
    },
  };
}
