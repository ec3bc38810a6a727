import { execFile } from 'node:child_process';
import { cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Dockerfile, Stage } from './dockerfile.js';

const run = promisify(execFile);

/** The user `node` of an image is here: one without rights if the tests run as root, else who runs them. */
export const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** The files of an image, made by the instructions of a Dockerfile in a folder for each of its stages. */
export class BuiltImage {
  private constructor(private readonly root: string) {}

  static async from(dockerfile: Dockerfile): Promise<BuiltImage> {
    const image = new BuiltImage(await mkdtemp(join(tmpdir(), 'agent-sessions-image-')));
    // The user of the image must get there.
    await chmod(image.root, 0o755);
    for (const stage of dockerfile.stages) await image.#build(stage);
    return image;
  }

  /** The folder that the command of the image starts in. */
  get folder(): string {
    return this.#folderOf('');
  }

  async remove(): Promise<void> {
    await rm(this.root, { recursive: true });
  }

  #folderOf(stage: string): string {
    return join(this.root, stage || 'image');
  }

  async #build({ name, instructions }: Stage): Promise<void> {
    const folder = this.#folderOf(name);
    await mkdir(folder);
    for (const { name: instruction, value } of instructions) {
      if (instruction === 'COPY') this.#copy(value.split(' '), folder);
      if (instruction === 'RUN') await runIn(folder, name, value);
    }
  }

  #copy([first = '', ...others]: readonly string[], folder: string): void {
    const stage = /^--from=(.+)$/.exec(first)?.[1];
    const paths = stage === undefined ? [first, ...others] : others;
    const target = paths.at(-1) ?? '';
    for (const path of paths.slice(0, -1)) {
      const source = stage === undefined ? fromContext(path) : join(this.#folderOf(stage), path.replace('/app/', ''));
      const isInto = target.endsWith('/');
      cpSync(source, join(folder, isInto ? join(target, basename(path)) : target), {
        recursive: true,
        verbatimSymlinks: true,
      });
    }
  }
}

/** A file or folder of the repository that `.dockerignore` lets through. Its last pattern that fits decides. */
function fromContext(path: string): string {
  const patterns = readFileSync('.dockerignore', 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const isSent = patterns.some((line) => line.startsWith('!') && `${path}/`.startsWith(`${line.slice(1)}/`));
  if (patterns[0] !== '*' || !isSent) throw new Error(`.dockerignore does not let ${path} through`);
  if (!existsSync(path)) throw new Error(`The Dockerfile copies ${path}, which is not there`);
  return resolve(path);
}

async function runIn(folder: string, stage: string, command: string): Promise<void> {
  // All packages are there: these tests run with them.
  if (stage === 'build' && command.startsWith('npm ci ')) {
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    return;
  }
  const owner = USER.uid === undefined ? `${process.getuid?.()}:${process.getgid?.()}` : `${USER.uid}:${USER.gid}`;
  const { NODE_ENV: _test, ...env } = process.env;
  const path = `${dirname(process.execPath)}:${env.PATH}`;
  const options = { cwd: folder, env: { ...env, PATH: path, npm_config_prefer_offline: 'true' }, maxBuffer: 2 ** 26 };
  await run('sh', ['-ec', command.replaceAll('node:node', owner)], options);
}
