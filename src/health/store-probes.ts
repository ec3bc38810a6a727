import { hostname } from 'node:os';
import { randomUUID } from 'node:crypto';
import type { SessionStorage } from '../sessions/storage/session-storage.js';

/** No app is called this, so looking up its state finds nothing, and costs next to nothing. */
const NOBODYS_APP = { appName: 'nestjs-agent-sessions:health' };

/** A lease that could not be given back is over by then. */
const LEASE_MS = 10_000;

/** What a store is asked to find out whether it is well. */
export type ProbeName = 'read' | 'write';

export type StoreProbes = Readonly<Record<ProbeName, () => Promise<void>>>;

/**
 * Probes that leave nothing behind. What is written is a lease of a name that nobody else asks for, given back at once: sessions, lists
 * and shared state never see it.
 */
export function probesOf(storage: SessionStorage): StoreProbes {
  return {
    async read() {
      await storage.readState(NOBODYS_APP);
    },
    async write() {
      const name = `nestjs-agent-sessions:health:${randomUUID()}`;
      const lease = await storage.leases.acquire({ name, holder: `${hostname()}:${process.pid}`, ttlMs: LEASE_MS });
      if (lease) await storage.leases.release(lease);
    },
  };
}
