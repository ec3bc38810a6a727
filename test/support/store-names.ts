/** The stores that the suites run against, in this order. */
export const storeNames = ['memory', 'sqlite', 'redis', 'redis-cluster', 'mariadb', 'postgres'] as const;

export type StoreName = (typeof storeNames)[number];

/** All stores, or those that `STORES` names, as in `STORES=memory,sqlite`. */
export function chosenStoreNames(wanted = process.env.STORES): readonly StoreName[] {
  if (!wanted) return storeNames;
  return wanted.split(',').map((given) => {
    const name = storeNames.find((candidate) => candidate === given.trim());
    if (!name) throw new Error(`STORES names ${given}; there are ${storeNames.join(', ')}`);
    return name;
  });
}
