import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from './run-command.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const consumer = fileURLToPath(new URL('consumer', import.meta.url));

/** A temporary folder for apps and tools, gone when this process is. */
export const scratch = mkdtempSync(join(tmpdir(), 'sessions-packaging-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

/** Packs what was built; answers npm's description of it. */
export async function pack() {
  const flags = ['--ignore-scripts', '--json', '--loglevel=error', '--pack-destination', scratch];
  const said = JSON.parse(await runCommand('npm', ['pack', ...flags], { cwd: root }));
  const [packed] = Object.values(said);
  return { ...packed, file: join(scratch, packed.filename) };
}

/** A folder with these packages installed; a conflict among peers is an error. */
export async function install(name, packages) {
  const folder = join(scratch, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }));
  await installInto(folder, packages);
  return folder;
}

export async function installInto(folder, packages) {
  const flags = ['--strict-peer-deps', '--prefer-offline', '--no-audit', '--no-fund'];
  const said = await runCommand('npm', ['install', ...flags, ...packages], { cwd: folder });
  if (/ERESOLVE|peer dep/i.test(said)) throw new Error(`npm install is not content with peers:\n${said}`);
}

/** An app of the packed package and others, with the programs of `consumer` in it. */
export async function installApp(name, packages) {
  const folder = await install(name, packages);
  cpSync(consumer, folder, { recursive: true });
  return folder;
}
