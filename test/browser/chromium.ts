import { access, constants } from 'node:fs/promises';
import { findBinary } from '../servers/binaries.js';
import { type Machine, thisMachine } from '../servers/find-server.js';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const DEBIAN_PACKAGE = 'chromium';

/** The Chromium named in the environment, an installed one, or one that is installed now – or an error that says what to do. */
export async function findChromium(machine: Machine = thisMachine): Promise<string> {
  const { env, install } = machine;
  if (env.CHROMIUM_PATH) return namedChromium(env.CHROMIUM_PATH);
  const installed = installedChromium(machine);
  if (installed !== undefined) return installed;
  const problems = [`CHROMIUM_PATH is not set`, `${NAMES.join(', ')}: not on the PATH`];
  try {
    await install?.(DEBIAN_PACKAGE);
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
  }
  return installedChromium(machine) ?? fail(problems);
}

async function namedChromium(path: string): Promise<string> {
  try {
    await access(path, constants.X_OK);
    return path;
  } catch (error) {
    throw new Error(`CHROMIUM_PATH names ${path}, which cannot be run`, { cause: error });
  }
}

function installedChromium({ binaryFolders }: Machine): string | undefined {
  const folders = binaryFolders();
  return NAMES.map((name) => findBinary(name, folders)).find((path) => path !== undefined);
}

function fail(problems: readonly string[]): never {
  throw new Error(
    [
      'The tests of pages need Chromium or Chrome and found none.',
      ...problems.map((problem) => `  - ${problem}`),
      `Install the package ${DEBIAN_PACKAGE} (sudo apt-get install ${DEBIAN_PACKAGE}, or what your system calls it),`,
      'or name one: CHROMIUM_PATH=/usr/bin/chromium',
    ].join('\n'),
  );
}
