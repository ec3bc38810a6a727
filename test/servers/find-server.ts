import { binaryFolders } from './binaries.js';
import { type InstallPackage, packageInstaller } from './install-packages.js';
import type { ServerKind } from './server-kind.js';

/** Where to look for servers. */
export interface Machine {
  readonly env: NodeJS.ProcessEnv;
  /** The folders of programs. Called again after an installation. */
  binaryFolders(): readonly string[];
  readonly install?: InstallPackage | undefined;
}

export interface FoundServer {
  readonly kind: ServerKind;
  readonly address: string;
  readonly version: string;
  readonly origin: 'named in the environment' | 'already running' | 'started for this run';
  /** Stops the server if it was started for this run. */
  stop(): Promise<void>;
}

export const thisMachine: Machine = { env: process.env, binaryFolders, install: packageInstaller() };

/**
 * Finds the server named in the environment, or a running one, or starts a private one. Otherwise throws an error that
 * says what to do.
 */
export async function findServer(kind: ServerKind, machine: Machine = thisMachine): Promise<FoundServer> {
  const named = machine.env[kind.variable];
  if (named) return namedServer(kind, named);
  const problems: string[] = [];
  return (
    (await runningServer(kind, machine, problems)) ??
    (await privateServer(kind, machine, problems)) ??
    fail(kind, problems)
  );
}

async function namedServer(kind: ServerKind, address: string): Promise<FoundServer> {
  try {
    const version = await kind.check(address);
    return { kind, address, version, origin: 'named in the environment', stop: async () => undefined };
  } catch (error) {
    const message = `${kind.variable} names ${withoutPassword(address)}, which is of no use: ${reasonOf(error)}`;
    throw new Error(message, { cause: error });
  }
}

async function runningServer(kind: ServerKind, { env }: Machine, problems: string[]): Promise<FoundServer | undefined> {
  if (env.TEST_SERVERS === 'private') return undefined;
  for (const address of kind.usualAddresses) {
    try {
      const version = await kind.check(address);
      return { kind, address, version, origin: 'already running', stop: async () => undefined };
    } catch (error) {
      problems.push(`${address}: ${reasonOf(error)}`);
    }
  }
  return undefined;
}

async function privateServer(
  kind: ServerKind,
  { binaryFolders: folders, install }: Machine,
  problems: string[],
): Promise<FoundServer | undefined> {
  try {
    if (!kind.starter(folders())) await install?.(kind.debianPackage);
    const start = kind.starter(folders());
    if (!start) {
      problems.push(`${kind.binaries.join(' and ')}: not on the PATH`);
      return undefined;
    }
    const server = await start();
    const { address } = server;
    return {
      kind,
      address,
      version: await kind.check(address),
      origin: 'started for this run',
      stop: () => server.stop(),
    };
  } catch (error) {
    problems.push(`a private one: ${reasonOf(error)}`);
    return undefined;
  }
}

function fail({ name, variable, example, debianPackage }: ServerKind, problems: readonly string[]): never {
  throw new Error(
    [
      `The tests need ${name} and found none.`,
      ...[`${variable} is not set`, ...problems].map((problem) => `  - ${problem}`),
      `Install the package ${debianPackage} (sudo apt-get install ${debianPackage}, or what your system calls it),`,
      `or name a server: ${variable}=${example}`,
      'Or run the tests that need no server: npm run test:embedded',
    ].join('\n'),
  );
}

export function withoutPassword(address: string): string {
  return address.replace(/(:\/\/[^:/@]*):[^@]*@/, '$1:***@');
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}
