import { once } from 'node:events';
import { type AddressInfo, type Server, connect, createServer } from 'node:net';

/** Gives each new connection to the next of its servers, as a service of Kubernetes does. Open connections stay where they are. */
export class LoadBalancer {
  readonly #ports: number[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<LoadBalancer> {
    const server = createServer({ noDelay: true });
    const balancer = new LoadBalancer(server);
    server.on('connection', (client) => {
      const [port = 0] = balancer.#ports.splice(0, 1);
      balancer.#ports.push(port);
      const target = connect({ host: '127.0.0.1', port, noDelay: true });
      client.pipe(target).pipe(client);
      client.on('error', () => target.destroy());
      target.on('error', () => client.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  add(port: number): void {
    this.#ports.push(port);
  }

  remove(port: number): void {
    this.#ports.splice(this.#ports.indexOf(port), 1);
  }

  close(): void {
    this.server.close();
  }
}
