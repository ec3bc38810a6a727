/** What the drivers and the checks of both Nest versions need. */
const everything = [
  'altair-static',
  'class-transformer',
  'class-validator',
  'graphql@16',
  'ioredis',
  'libsql',
  'mysql2',
  'pg',
  'reflect-metadata',
  'rxjs',
  'swagger-ui-dist@5',
  'typeorm',
  '@types/node@20',
];

/** Packages that have the number of Nest, and those that have one of their own. */
const nest = (version, { config, graphql, schedule }) => [
  ...['common', 'core', 'swagger', 'terminus', 'typeorm'].map((name) => `@nestjs/${name}@${version}`),
  `@nestjs/config@${config}`,
  `@nestjs/graphql@${graphql}`,
  `@nestjs/schedule@${schedule}`,
];

export const nest12 = [...nest(12, { config: 12, graphql: 14, schedule: 12 }), ...everything];

export const nest11 = [...nest(11, { config: 4, graphql: 13, schedule: 6 }), ...everything];

/** No optional peer at all. Nest's own types need those of Node. */
export const withoutPeers = ['@nestjs/common@12', '@nestjs/core@12', 'reflect-metadata', 'rxjs', '@types/node@20'];

/** The lower end of every range in `peerDependencies`, but for a driver that takes the place of another. */
export function oldestPeers({ peerDependencies }) {
  const peers = Object.entries(peerDependencies).filter(([name]) => name !== 'better-sqlite3');
  const oldest = peers.map(([name, range]) => `${name}@${/\d+\.\d+\.\d+/.exec(range)?.[0]}`);
  return [...oldest, 'class-transformer', '@types/node@20'];
}
