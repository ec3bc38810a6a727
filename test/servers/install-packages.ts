import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

// A server that a package starts would take the usual port and stay; 101 means "not now" to the package.
const INSTALL = `
set -e
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 1' HUP INT TERM
  printf '#!/bin/sh\\nexit 101\\n' > "$policy"
  chmod 755 "$policy"
fi
apt-get update
apt-get install -y --no-install-recommends --no-upgrade -o DPkg::Lock::Timeout=120 "$@"
`;
const INSTALL_LIMIT_MS = 10 * 60_000;

export type InstallPackage = (name: string) => Promise<void>;

/** Installs a package of Debian or Ubuntu; undefined where that is not possible or not allowed. */
export function packageInstaller(): InstallPackage | undefined {
  const isRoot = process.getuid?.() === 0;
  return isRoot && existsSync('/etc/debian_version') && existsSync('/usr/bin/apt-get') ? installInTurn : undefined;
}

let lastInstallation: Promise<unknown> = Promise.resolve();
const installations = new Map<string, Promise<void>>();

/** Each once, and one after the other: apt works for one at a time. */
function installInTurn(name: string): Promise<void> {
  const known = installations.get(name);
  if (known) return known;
  const installation = lastInstallation.then(() => install(name));
  lastInstallation = installation.catch(() => undefined);
  installations.set(name, installation);
  return installation;
}

async function install(name: string): Promise<void> {
  process.stderr.write(`Installing ${name} for the tests\n`);
  try {
    await promisify(execFile)('/bin/sh', ['-c', INSTALL, 'install', name], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' },
      maxBuffer: 2 ** 26,
      timeout: INSTALL_LIMIT_MS,
    });
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    const lines = (stderr?.trim() || String(error)).split('\n').slice(-3).join(' | ');
    throw new Error(`apt-get could not install it: ${lines}`, { cause: error });
  }
}
