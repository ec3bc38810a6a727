import { Redis } from 'ioredis';
import { binaryFolders } from '../servers/binaries.js';
import { redis } from '../servers/redis.js';
import type { StartedServer } from '../servers/server-kind.js';

/** A server of one test, for settings that affect all clients. */
export class OwnServer {
  readonly admin: Redis;

  private constructor(private readonly server: StartedServer) {
    this.admin = new Redis(server.address);
  }

  static async start(): Promise<OwnServer> {
    const server = await redis.starter(binaryFolders())?.();
    if (!server) throw new Error('redis-server is missing: install it');
    return new OwnServer(server);
  }

  get address(): string {
    return this.server.address;
  }

  async stop(): Promise<void> {
    this.admin.disconnect();
    await this.server.stop();
  }
}
