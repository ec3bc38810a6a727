/** What the checks need beside the package and its peers. */
const ofChecks = ['class-transformer', 'expect@30', '@types/node@20'];

/** The newest of all drivers. */
const everything = [
  '@google/adk',
  '@modelcontextprotocol/sdk',
  '@modelcontextprotocol/server',
  '@anthropic-ai/claude-agent-sdk',
  'ai@6',
  '@ai-sdk/openai-compatible@2',
  '@a2a-js/sdk',
  '@ag-ui/core',
  '@langchain/core',
  '@langchain/langgraph-checkpoint',
  '@openai/agents-core',
  '@opentelemetry/api',
  'class-validator',
  'google-auth-library@10',
  'graphiql@3',
  'graphql@16',
  'ioredis',
  'libsql',
  'mysql2',
  'pg',
  'reflect-metadata',
  'rxjs',
  'typeorm',
  ...ofChecks,
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

/**
 * The lower end of every range in `peerDependencies`, but for a driver that takes the place of another: the first versions that pass: `ioredis` 5.3.0 has named imports in ES modules, `rxjs` 7.5.5 types under `exports`, `typeorm` 0.3.12 allows
 * `mysql2@3`, which warns of `maxIdle` before 3.1.0, and older SDKs of MCP lose messages. If a change needs a newer one, raise it in
 * package.json.
 */
export function oldestPeers({ peerDependencies }) {
  const peers = Object.keys(peerDependencies).filter((name) => name !== 'better-sqlite3');
  return [...peers.map((name) => oldestOf(peerDependencies, name)), ...ofChecks];
}

function oldestOf(peerDependencies, name) {
  return `${name}@${/\d+\.\d+\.\d+/.exec(peerDependencies[name])?.[0]}`;
}

const nestAlone = ['@nestjs/common@12', '@nestjs/core@12', 'reflect-metadata', 'rxjs', ...ofChecks];

/** Other mixtures that apps have, and the stores whose contract is proven there. */
export function mixtures({ peerDependencies }) {
  return [
    {
      name: 'TypeORM 0.3, the newest',
      packages: [...nestAlone, 'typeorm@0.3.31', 'ioredis@5.4.1', 'mysql2@3.22.0', 'pg', 'libsql'],
      stores: ['libsql', 'mysql', 'postgres', 'redis'],
    },
    {
      name: 'better-sqlite3, the oldest',
      packages: [...nestAlone, 'typeorm@0.3', oldestOf(peerDependencies, 'better-sqlite3')],
      stores: ['better-sqlite3'],
    },
    {
      name: 'better-sqlite3, the newest',
      packages: [...nestAlone, 'typeorm', 'better-sqlite3@12'],
      stores: ['better-sqlite3'],
    },
  ];
}
