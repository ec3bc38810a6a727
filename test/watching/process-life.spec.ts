import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chosenStoreNames } from '../support/store-names.js';

const run = promisify(execFile);
const PROCESSES = join(__dirname, '../support/processes');
/** Only what keeps the process alive for good takes as long. */
const LIMIT_MS = 100_000;

const SAID = ['event 1', 'the reader left', 'the service finished'];

const embedded = (['memory', 'sqlite'] as const).filter((name) => chosenStoreNames().includes(name));

if (embedded.length > 0) {
  it(`a process that only watches lives as long as its watches wait, with ${embedded.join(' and ')}`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'watching-'));
    try {
      const places = embedded.map((name) => (name === 'memory' ? name : join(folder, 'sessions.db')));
      const args = [join(PROCESSES, 'bootstrap.cjs'), join(PROCESSES, 'watching-process.ts'), ...places];
      const { stdout, stderr } = await run(process.execPath, args, { timeout: LIMIT_MS, killSignal: 'SIGKILL' });
      expect(stderr).toBe('');
      expect(stdout.trim().split('\n')).toEqual(embedded.flatMap(() => SAID));
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}
