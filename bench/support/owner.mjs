/** What all sessions of the benchmarks belong to. */
export const OWNER = { appName: 'bench', userId: 'ann' };
