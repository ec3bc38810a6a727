import { once } from 'node:events';
import { type AddressInfo, type NetConnectOpts, type Server, type Socket, connect, createServer } from 'node:net';

/** What the proxy does with what comes from the server. */
export type ProxyMode =
  | 'pass'
  /** The next answer is lost, and the connection with it, after the server did its work. */
  | 'lose the next answer'
  /** Connections stay, but nothing comes through; those that lost something this way never recover. */
  | 'black hole';

/** A piece of what is said over a connection. What one side writes in one go comes as one piece, up to 64 KB. */
export interface Piece {
  readonly from: 'client' | 'server';
  readonly data: Buffer;
  /** Tells connections apart. */
  readonly connection: number;
}

/** Lets a piece through, keeps it from the other side, or cuts the connection in its place. */
export type Verdict = 'pass' | 'swallow' | 'cut';

/** Stands between a client and a server, and does to them what networks do. */
export class TcpProxy {
  mode: ProxyMode = 'pass';
  /** Asked about each piece while the mode is `pass`. */
  judge: (piece: Piece) => Verdict = () => 'pass';
  #connections = 0;
  readonly #sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {}

  static async start(target: NetConnectOpts): Promise<TcpProxy> {
    // So that a goodbye gets no answer where nothing comes through.
    const server = createServer({ allowHalfOpen: true });
    const proxy = new TcpProxy(server);
    server.on('connection', (client) => proxy.#join(client, connect({ ...target, allowHalfOpen: true })));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** How many connections there were so far; the latest has this number. */
  get connections(): number {
    return this.#connections;
  }

  /** Cuts all connections. */
  reset(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Cuts all connections, and takes no more. */
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
      const verdict = this.judge({ from, data, connection });
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
