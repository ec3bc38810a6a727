import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';

/** What the proxy does with what comes from the server. */
export type ProxyMode =
  | 'pass'
  /** The next answer is lost, and the connection with it, after the server did its work. */
  | 'lose the next answer'
  /** Connections stay, but nothing comes through; those that lost something this way never recover. */
  | 'black hole';

/** Stands between a client and a server, and does to them what networks do. */
export class TcpProxy {
  mode: ProxyMode = 'pass';
  readonly #sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {}

  static async start(target: { host: string; port: number }): Promise<TcpProxy> {
    const server = createServer();
    const proxy = new TcpProxy(server);
    server.on('connection', (client) => proxy.#join(client, connect(target)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
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
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    let isDead = false;
    client.on('data', (data) => {
      isDead ||= this.mode === 'black hole';
      if (!isDead) server.write(data);
    });
    server.on('data', (data) => {
      isDead ||= this.mode === 'black hole';
      if (isDead) return;
      if (this.mode === 'pass') {
        client.write(data);
      } else {
        this.mode = 'pass';
        client.destroy();
      }
    });
  }
}
