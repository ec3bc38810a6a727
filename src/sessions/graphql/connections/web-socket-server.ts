import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { isPlainObject, readObjectField } from '../../domain/values/json-value.js';
import type { ConnectionLimits } from '../limits/graphql-limits.js';

/** The part of a `ws` connection that is used here. */
export interface WebSocketConnection {
  close: (code: number, reason?: string | Buffer) => void;
  terminate(): void;
  removeAllListeners(event: 'message' | 'error'): unknown;
  on(event: 'message' | 'ping' | 'error', listener: () => void): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** One that has been opened. */
export interface OpenedConnection extends WebSocketConnection {
  readonly isPaused: boolean;
  pause(): void;
  resume(): void;
}

/** `verifyClient` of `ws`: accepts a connection, or refuses it with a status, body and headers. */
export type Verify = (
  info: { readonly req: IncomingMessage },
  done: (isFine: boolean, status?: number, body?: string, headers?: Record<string, string>) => void,
) => void;

/** The part of a `ws` server that is used here. */
export interface WebSocketServer {
  readonly options: { maxPayload?: number; verifyClient?: Verify };
  on(event: 'connection', listener: (socket: OpenedConnection, request: IncomingMessage) => void): unknown;
}

/** A WebSocket server for subscriptions, and its options of graphql-ws. */
export interface SubscriptionServer {
  readonly server: WebSocketServer;
  readonly options: unknown;
}

/**
 * Returns the WebSocket server of Apollo's driver, or `undefined` if there is none or for another driver. Nest neither exposes
 * it nor accepts options for it, so private fields are read.
 */
export function subscriptionServerOf(driver: unknown): SubscriptionServer | undefined {
  const service = readObjectField(driver, '_subscriptionService');
  const server = readObjectField(service, 'wss');
  if (!isLiveServer(server)) return undefined;
  return { server, options: readObjectField(readObjectField(service, 'options'), 'graphql-ws') };
}

function isLiveServer(server: unknown): server is WebSocketServer {
  return isPlainObject(readObjectField(server, 'options')) && typeof readObjectField(server, 'on') === 'function';
}

/** Settings of the connections of one server. */
export interface WebSocketSettings {
  readonly limits: ConnectionLimits;
  /** The client address of a connection. */
  readonly addressOf: (request: IncomingMessage) => string;
}

/** The key in the options of graphql-ws. A symbol survives copying. */
const WEB_SOCKET_SETTINGS = Symbol('WEB_SOCKET_SETTINGS');

/** Adds settings for `SessionsGraphqlModule` to the options of graphql-ws. */
export function withWebSocketSettings<Options extends object>(options: Options, settings: WebSocketSettings): Options {
  return { ...options, [WEB_SOCKET_SETTINGS]: settings };
}

/** The settings in the options of graphql-ws, if these come from `sessionsGraphqlOptions`. */
export function webSocketSettingsIn(options: unknown): WebSocketSettings | undefined {
  if (typeof options !== 'object' || options === null) return undefined;
  return (options as { [WEB_SOCKET_SETTINGS]?: WebSocketSettings })[WEB_SOCKET_SETTINGS];
}

/** How long the client has to complete the close handshake. */
const CLOSE_TIMEOUT_MS = 1_000;

const TOO_BIG = 1009;

const TRY_AGAIN_LATER = 1013;

/** Accepted connections by the request that opened them. */
const accepted = new WeakMap<IncomingMessage, WebSocketConnection>();

/** Marks a connection as accepted after its `connection_init`. */
export function acceptHandshake(request: IncomingMessage, socket: WebSocketConnection): void {
  accepted.set(request, socket);
}

/** Closes the connection that this request opened, because it is not read. */
export function endStalled(request: IncomingMessage, seconds: number): void {
  const socket = accepted.get(request);
  if (socket) endUnread(socket, seconds);
}

/** Closes a connection that is not read. Its client can connect again and continue. */
export function endUnread(socket: WebSocketConnection, seconds: number): void {
  endConnection(socket, TRY_AGAIN_LATER, `Nothing was read for ${seconds} seconds`);
}

/** Closes a connection that sends more than this before it is accepted: it is not authenticated yet. */
export function limitHandshake(socket: WebSocketConnection, request: IncomingMessage, maxBytes: number): void {
  let bytes = 0;
  const count = (chunk: Buffer): void => {
    if (accepted.has(request)) {
      request.socket.off('data', count);
      return;
    }
    bytes += chunk.length;
    if (bytes <= maxBytes) return;
    request.socket.off('data', count);
    endConnection(socket, TOO_BIG, `More than ${maxBytes} bytes before the connection was accepted`);
  };
  request.socket.on('data', count);
}

/** How much may wait for a client that goes on asking. */
const MAX_WAITING_BYTES = 1_048_576;

/** Reads no more from a client that does not read its answers: a ping, for example, is answered with all that it carries. */
export function limitUnread(socket: OpenedConnection, raw: Socket): void {
  const pauseIfUnread = (): void => {
    if (socket.isPaused || raw.writableLength <= MAX_WAITING_BYTES) return;
    socket.pause();
    raw.once('drain', () => socket.resume());
  };
  socket.on('message', pauseIfUnread);
  socket.on('ping', pauseIfUnread);
}

/** Closes a connection with a reason, and ignores further messages. */
export function endConnection(socket: WebSocketConnection, code: number, reason: string): void {
  socket.removeAllListeners('message');
  socket.close(code, reason);
  terminateAfterClose(socket);
}

/** What fits into the 123 bytes of a close frame, in any language. */
const MAX_REASON_LENGTH = 41;

/**
 * Terminates the connection if the client does not respond to a close, whoever closes. `ws` waits 30 seconds, and an app waits for it. It
 * throws if a reason is too long: one of graphql-ws holds the id that a client gave.
 */
export function limitClose(socket: WebSocketConnection): void {
  const close = socket.close.bind(socket);
  socket.close = (code, reason) => {
    const isTooLong = typeof reason === 'string' && Buffer.byteLength(reason) > 3 * MAX_REASON_LENGTH;
    close(code, isTooLong ? reason.slice(0, MAX_REASON_LENGTH).toWellFormed() : reason);
    terminateAfterClose(socket);
  };
}

const closing = new WeakSet<WebSocketConnection>();

/** Terminates a closing connection if the client does not respond. Each of its messages may close it once more. */
export function terminateAfterClose(socket: WebSocketConnection): void {
  if (closing.has(socket)) return;
  closing.add(socket);
  const timer = setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS);
  socket.once('close', () => clearTimeout(timer));
}
