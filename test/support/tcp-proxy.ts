import { once } from 'node:events';
import { type AddressInfo, type NetConnectOpts, type Server, type Socket, connect, createServer } from 'node:net';

/** How the proxy handles data. */
export type ProxyMode =
  | 'pass'
  /** Breaks the connection instead of passing the next response. */
  | 'lose the next response'
  /** Connections stay open, but all data is dropped. A connection that lost data never works again. */
  | 'black hole';

/** A chunk of data. What one side writes at once arrives as one chunk, up to 64 KB. */
export interface Piece {
  readonly from: 'client' | 'server';
  readonly data: Buffer;
  /** The number of the connection. */
  readonly connection: number;
}

/** Passes a chunk, drops it, or breaks the connection instead. */
export type Verdict = 'pass' | 'drop' | 'cut';

/** A proxy that simulates network failures between a client and a server. */
export class TcpProxy {
  mode: ProxyMode = 'pass';
  /** Called for each chunk while the mode is `pass`. */
  filter: (piece: Piece) => Verdict = () => 'pass';
  #connections = 0;
  readonly #sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {}

  static async start(target: NetConnectOpts): Promise<TcpProxy> {
    // `allowHalfOpen`, so that the end of a dropped connection gets no response. Without `noDelay`, small pieces wait for 40 ms.
    const options = { allowHalfOpen: true, noDelay: true };
    const server = createServer(options);
    const proxy = new TcpProxy(server);
    server.on('connection', (client) => proxy.#join(client, connect({ ...target, ...options })));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** The number of connections so far, which is the number of the latest. */
  get connections(): number {
    return this.#connections;
  }

  /** Breaks all connections. */
  reset(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Breaks all connections, and accepts no more. */
  refuse(): void {
    this.reset();
    this.server.close();
  }

  async stop(): Promise<void> {
    this.reset();
    if (!this.server.listening) return;
    this.server.close();
    await once(this.server, 'close');
  }

  #join(client: Socket, server: Socket): void {
    let isDead = false;
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('end', () => {
        isDead ||= this.mode === 'black hole';
        if (!isDead) other.end();
      });
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    const connection = (this.#connections += 1);
    const isPassed = (from: Piece['from'], data: Buffer): boolean => {
      const verdict = this.filter({ from, data, connection });
      if (verdict === 'cut') client.destroy();
      return verdict === 'pass';
    };
    client.on('data', (data) => {
      isDead ||= this.mode === 'black hole';
      if (!isDead && isPassed('client', data)) server.write(data);
    });
    server.on('data', (data) => {
      isDead ||= this.mode === 'black hole';
      if (isDead) return;
      if (this.mode === 'pass') {
        if (isPassed('server', data)) client.write(data);
      } else {
        this.mode = 'pass';
        client.destroy();
      }
    });
  }
}
