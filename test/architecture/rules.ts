/** A part of `src` and the parts it may import, besides itself. */
export interface Layer {
  /** `$1` stands for what `files` captured, so that one rule makes a layer of every folder. */
  readonly name: string;
  /** Matches paths relative to `src`. The first layer that matches a file owns it. */
  readonly files: RegExp;
  readonly mayImport: readonly string[] | 'everything';
  /** Which packages it may import; any, where this is not given. */
  readonly packages?: RegExp;
}

const nodeBuiltins = /^node:/;
const noPackage = /^$/;

const pureLayers = ['config', 'state', 'sessions/domain'];
const sessionLayers = [...pureLayers, 'sessions/storage', 'sessions/environment', 'sessions/operations', 'sessions'];
const readyMadeServices = ['in-memory service', 'database service', 'redis service'];
const providers = ['sessions/storage/in-memory', 'sessions/storage/typeorm', 'sessions/storage/redis'];

export const layers: readonly Layer[] = [
  { name: 'app', files: /^(main|app\.module|health\.controller)\.ts$/, mayImport: 'everything' },
  {
    name: 'entry points',
    files: /^(index|typeorm|redis)\.ts$/,
    mayImport: [...sessionLayers, ...providers, ...readyMadeServices],
  },
  {
    name: 'testing',
    files: /^testing\/.+$/,
    mayImport: [...sessionLayers, ...providers, ...readyMadeServices],
  },
  { name: 'config', files: /^config\/.+$/, mayImport: [] },
  { name: 'state', files: /^state\/.+$/, mayImport: [], packages: noPackage },
  {
    name: 'sessions/domain',
    files: /^sessions\/domain\/.+$/,
    mayImport: ['state', 'config'],
    packages: nodeBuiltins,
  },
  {
    name: 'sessions/storage/$1',
    files: /^sessions\/storage\/([^/]+)\/.+$/,
    mayImport: ['sessions/storage', 'sessions/domain', 'state'],
  },
  {
    name: 'sessions/storage',
    files: /^sessions\/storage\/[^/]+$/,
    mayImport: ['sessions/domain', 'state'],
    packages: nodeBuiltins,
  },
  {
    name: 'sessions/operations',
    files: /^sessions\/operations\/.+$/,
    mayImport: [...pureLayers, 'sessions/storage', 'sessions/environment'],
  },
  {
    name: 'sessions/environment',
    files: /^sessions\/(session-environment|session-hooks|running-work)\.ts$/,
    mayImport: [...pureLayers, 'sessions/storage'],
  },
  {
    name: 'in-memory service',
    files: /^sessions\/in-memory-session\.service\.ts$/,
    mayImport: [...sessionLayers, 'sessions/storage/in-memory'],
  },
  {
    name: 'database service',
    files: /^sessions\/database-session\.service\.ts$/,
    mayImport: [...sessionLayers, 'sessions/storage/typeorm'],
  },
  {
    name: 'redis service',
    files: /^sessions\/redis-session\.service\.ts$/,
    mayImport: [...sessionLayers, 'sessions/storage/redis'],
  },
  {
    name: 'sessions',
    files: /^sessions\/[^/]+$/,
    mayImport: [...pureLayers, 'sessions/storage', 'sessions/environment', 'sessions/operations'],
  },
];

/** The one folder that may import each optional peer dependency. */
export const peerFolders: Readonly<Record<string, string>> = {
  typeorm: 'sessions/storage/typeorm/',
  ioredis: 'sessions/storage/redis/',
  libsql: 'sessions/storage/typeorm/',
  'better-sqlite3': 'sessions/storage/typeorm/',
};

/** Entry points that must work with no optional peer installed, types included. */
export const entriesWithoutPeers = ['index.ts', 'testing/index.ts'];

export const vagueNames = ['utils', 'util', 'helpers', 'helper', 'common', 'misc'];
export const maxLines = 200;
