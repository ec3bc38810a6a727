import { until } from './until.js';

/** The listening connections of a store, on the server. */
export interface ListeningConnections {
  count(): Promise<number>;
  /** Ends all of them. */
  cut(): Promise<void>;
}

export async function untilCount({ count }: ListeningConnections, isEnough: (count: number) => boolean): Promise<void> {
  let found = 0;
  await until(
    async () => isEnough((found = await count())),
    () => `There are ${found} connections that listen`,
  );
}
