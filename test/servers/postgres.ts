import { findBinary } from './binaries.js';
import { checkPostgres } from './postgres-login.js';
import { startPostgres } from './private-postgres.js';
import type { ServerKind } from './server-kind.js';

export const postgres: ServerKind = {
  name: 'PostgreSQL',
  variable: 'TEST_POSTGRES_URL',
  example: 'postgres://postgres:secret@127.0.0.1:5432/postgres',
  usualAddresses: ['postgres://postgres@127.0.0.1:5432/postgres'],
  check: checkPostgres,
  binaries: ['postgres', 'initdb'],
  debianPackage: 'postgresql',
  starter(folders) {
    // Both must be in one folder, because programs of different versions do not work together.
    for (const folder of folders) {
      const command = findBinary('postgres', [folder]);
      const initdb = findBinary('initdb', [folder]);
      if (command !== undefined && initdb !== undefined) return () => startPostgres({ command, initdb });
    }
    return undefined;
  },
};
