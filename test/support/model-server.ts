import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A server with the `chat/completions` API that numbers its responses, for several processes. */
export class ModelServer {
  #calls = 0;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start({ thinkMs = 0 }: { thinkMs?: number } = {}): Promise<ModelServer> {
    const server = createServer((request, response) => {
      request.resume().on('end', () => void answer());
      const answer = async (): Promise<void> => {
        model.#calls += 1;
        const content = `summary ${model.#calls}`;
        await delay(thinkMs);
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ choices: [{ message: { content }, finish_reason: 'stop' }] }));
      };
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const model = new ModelServer(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
    return model;
  }

  /** The number of calls since the last call of this method. */
  takeCalls(): number {
    const calls = this.#calls;
    this.#calls = 0;
    return calls;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}
