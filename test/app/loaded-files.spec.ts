import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunningApp } from './running-app.js';

/** What the app loads when it is asked for it, or for other stores. */
const LOADED_LATER = /^(graphql|@?graphql-.+|@nestjs\/(graphql|apollo)|@apollo\/.+|ws|ioredis|mysql2|pg|ai)$/;

/** About 2,150, most of them of Nest, TypeORM, RxJS, and of what checks and describes REST. GraphQL would add 700. */
const MOST_FILES = 2_300;

describe('the files that the app of npm start loads', () => {
  let folder: string;
  let app: RunningApp;

  afterEach(async () => {
    await app.remove();
    await rm(folder, { recursive: true });
  });

  /** The package of each file that the process has loaded; Node writes it when the process ends. */
  const packagesOfFiles = async (): Promise<string[]> => {
    app.process.kill('SIGTERM');
    expect(await app.ended()).toBe(0);
    const [name = ''] = await readdir(folder);
    const { result } = JSON.parse(await readFile(join(folder, name), 'utf8')) as { result: { url: string }[] };
    const files = result.filter(({ url }) => url.startsWith('file:'));
    return files.map(({ url }) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? 'own');
  };

  it('are few until it is healthy', async () => {
    folder = await mkdtemp(join(tmpdir(), 'agent-sessions-loaded-'));
    app = await RunningApp.start({ NODE_V8_COVERAGE: folder });
    expect((await fetch(`${app.url}/health`)).status).toBe(200);
    const packages = await packagesOfFiles();
    expect(packages).toEqual(expect.arrayContaining(['own', '@nestjs/core', 'typeorm']));
    expect([...new Set(packages)].filter((name) => LOADED_LATER.test(name))).toEqual([]);
    expect(packages.length).toBeLessThan(MOST_FILES);
  });
});
