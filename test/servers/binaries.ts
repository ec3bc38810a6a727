import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const DEBIAN_POSTGRES_FOLDER = '/usr/lib/postgresql';

/** The folders of programs: the PATH, and the folders where Debian installs servers outside of a user's PATH. */
export function binaryFolders(path = process.env.PATH ?? ''): string[] {
  return [...path.split(delimiter).filter(Boolean), '/usr/sbin', '/usr/local/sbin', ...postgresFolders()];
}

/** The full path of the first program with this name. */
export function findBinary(name: string, folders: readonly string[]): string | undefined {
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function postgresFolders(): string[] {
  if (!existsSync(DEBIAN_POSTGRES_FOLDER)) return [];
  return readdirSync(DEBIAN_POSTGRES_FOLDER)
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => join(DEBIAN_POSTGRES_FOLDER, version, 'bin'));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
