import { type BaseSessionService, InMemorySessionService, LogLevel, setLogLevel } from '@google/adk';
import { DatabaseSessionService } from '@google/adk/sessions/database';
import { LibSqlDriver } from '@mikro-orm/libsql';
import { AdkSessionService } from '../../../src/adapters/adk/index.js';
import { SessionService } from '../../../src/index.js';
import { randomNumbers, seed } from '../../support/random.js';
import type { TestStore } from '../../support/stores.js';
import { describeSuite } from '../support/describe-suite.js';
import { type Clock, ComparedServices, type KnownDifferences } from './support/compared-services.js';

setLogLevel(LogLevel.ERROR);

const RUNS = Number(process.env.RUNS ?? 4);

const IN_MEMORY: KnownDifferences = {
  initialStateIsNotShared: true,
  createReplaces: true,
  appendsToNothing: true,
  zeroIsAll: true,
  listsNoState: true,
  partialsChangeState: true,
};

const DATABASE: KnownDifferences = { afterIsExclusive: true, losesProto: true, refreshesObjects: true };

async function compare(store: TestStore, theirs: BaseSessionService, known: KnownDifferences): Promise<void> {
  const clock: Clock = { time: Date.now() };
  const { storage, destroy } = await store.open({ clock: { now: () => clock.time } });
  const sessions = new SessionService({ storage, clock: { now: () => clock.time } });
  try {
    const ours = new AdkSessionService({ sessions });
    for (let run = 0; run < RUNS; run++) {
      const random = randomNumbers(seed + run);
      const compared = new ComparedServices(theirs, ours, `app-${run}`, random, clock, known);
      try {
        await compared.run();
      } catch (error) {
        throw new Error(`SEED=${seed + run} RUNS=1 repeats it`, { cause: error });
      }
    }
  } finally {
    await sessions.close();
    await destroy();
  }
}

describeSuite(
  { framework: 'Google ADK', peer: '@google/adk', suite: "random operations beside ADK's own services" },
  (store) => {
    it('do what InMemorySessionService does, but for what is named', () =>
      compare(store, new InMemorySessionService(), IN_MEMORY));

    it('do what DatabaseSessionService does, but for what is named', async () => {
      const database = new DatabaseSessionService({ driver: LibSqlDriver, dbName: ':memory:' });
      try {
        await compare(store, database, DATABASE);
      } finally {
        // It has no method that closes it.
        await (database as unknown as { readonly orm?: { close(): Promise<void> } }).orm?.close();
      }
    });
  },
);
