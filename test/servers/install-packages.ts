import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

// Prevents the package from starting its server, which would occupy the usual port: exit code 101 means "do not start".
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

/** Installs a package of Debian or Ubuntu; undefined if that is not possible or not allowed. */
export function packageInstaller(): InstallPackage | undefined {
  const isRoot = process.getuid?.() === 0;
  return isRoot && existsSync('/etc/debian_version') && existsSync('/usr/bin/apt-get') ? installOnce : undefined;
}

let lastInstallation: Promise<unknown> = Promise.resolve();
const installations = new Map<string, Promise<void>>();

/** Installs each package once, and one at a time, because apt holds a lock. */
function installOnce(name: string): Promise<void> {
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
