import { type Skip, describeContract } from './contract-runner.js';
import { ManualClock } from './manual-clock.js';
import type { CreateSessions, OpenSessions } from './open-sessions.js';
import { TOPICS } from './service-contract/topics.js';
import type { ServiceFixture } from './service-contract/support.js';

/** What to test, and how to open it. */
export interface ServiceContractOptions {
  readonly name: string;
  readonly create: CreateSessions;
  readonly skip?: readonly Skip[] | undefined;
}

/**
 * Proves that sessions keep the contract, with any store and over any transport. Call it in a
 * spec of any runner with Jest's globals.
 *
 * @example
 * describeSessionService({ name: 'my store', create: sessionsOver(openMyStorage) });
 */
export function describeSessionService({ name, create, skip }: ServiceContractOptions): void {
  describeContract<ServiceFixture>({
    name: `${name} keeps the contract of sessions`,
    topics: TOPICS,
    skip,
    async open() {
      const clock = new ManualClock();
      const opened: OpenSessions[] = [];
      return {
        fixture: {
          clock,
          async open(settings = {}) {
            const sessions = await create({ ...settings, clock });
            opened.push(sessions);
            return sessions;
          },
        },
        async close() {
          for (const sessions of opened) await sessions.destroy();
        },
      };
    },
  });
}
