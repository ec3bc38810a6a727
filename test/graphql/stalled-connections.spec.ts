import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { StalledConnections } from '../../src/sessions/graphql/connections/connection-limits.js';

const SECONDS = 8;

class RawSocket extends EventEmitter {
  bytesWritten = 0;
  writableLength = 0;
}

class WebSocketConnection extends EventEmitter {
  readonly close = jest.fn();
  readonly terminate = jest.fn();
}

describe('the check for stalled connections', () => {
  let raw: RawSocket;
  let socket: WebSocketConnection;

  beforeEach(() => {
    jest.useFakeTimers();
    [raw, socket] = [new RawSocket(), new WebSocketConnection()];
    new StalledConnections(SECONDS).add(socket, raw as unknown as Socket);
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('closes a connection that reads nothing, and does not wait for its close frame', () => {
    Object.assign(raw, { bytesWritten: 500, writableLength: 400 });
    jest.advanceTimersByTime((SECONDS * 1000) / 2);
    expect(socket.close).not.toHaveBeenCalled();
    jest.advanceTimersByTime(SECONDS * 800);
    expect(socket.close.mock.calls).toEqual([[1013, 'Nothing was read for 8 seconds']]);
    expect(socket.terminate).not.toHaveBeenCalled();
    jest.advanceTimersByTime(2_000);
    expect(socket.terminate).toHaveBeenCalledTimes(1);
  });

  it('keeps a connection that reads slowly', () => {
    for (let taken = 0; taken < 20; taken++) {
      Object.assign(raw, { bytesWritten: 500, writableLength: 400 - taken });
      jest.advanceTimersByTime((SECONDS * 1000) / 2);
    }
    expect(socket.close).not.toHaveBeenCalled();
  });

  it('keeps a connection without waiting data', () => {
    Object.assign(raw, { bytesWritten: 500, writableLength: 0 });
    jest.advanceTimersByTime(SECONDS * 10_000);
    expect(socket.close).not.toHaveBeenCalled();
  });

  it('has no timer when all connections are closed', () => {
    raw.emit('close');
    expect(jest.getTimerCount()).toBe(0);
  });
});
