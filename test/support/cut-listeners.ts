import { setTimeout as delay } from 'node:timers/promises';

/** The connections over which a store listens, seen from the server. */
export interface ListeningConnections {
  count(): Promise<number>;
  /** Ends all of them. */
  cut(): Promise<void>;
}

const PATIENCE_MS = 10_000;

export async function untilCount({ count }: ListeningConnections, isEnough: (count: number) => boolean): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (let found = await count(); !isEnough(found); found = await count()) {
    if (performance.now() > giveUpAt) throw new Error(`There are ${found} connections that listen`);
    await delay(5);
  }
}
