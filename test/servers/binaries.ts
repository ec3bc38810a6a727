import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const POSTGRES_OF_DEBIAN = '/usr/lib/postgresql';

/** Where programs are: on the PATH, and where Debian puts servers without putting them on everybody's PATH. */
export function binaryFolders(path = process.env.PATH ?? ''): string[] {
  return [...path.split(delimiter).filter(Boolean), '/usr/sbin', '/usr/local/sbin', ...postgresFolders()];
}

/** The first of such a name, as a whole path. */
export function findBinary(name: string, folders: readonly string[]): string | undefined {
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function postgresFolders(): string[] {
  if (!existsSync(POSTGRES_OF_DEBIAN)) return [];
  return readdirSync(POSTGRES_OF_DEBIAN)
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => join(POSTGRES_OF_DEBIAN, version, 'bin'));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
