import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pages } from './fences.js';

describe('The documentation for language models', () => {
  it('is generated from all pages', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'agent-sessions-llms-'));
    try {
      await promisify(execFile)(process.execPath, ['docs/llms.mjs', folder]);
      const [index, full] = await Promise.all(
        ['llms.txt', 'llms-full.txt'].map((name) => readFile(join(folder, name), 'utf8')),
      );
      for (const page of pages().filter((path) => !path.includes('decisions'))) {
        expect(full).toContain(`<!-- ${page} -->`);
        if (page !== 'README.md') expect(index).toContain(`blob/main/${page}): `);
      }
      expect(index).not.toContain('```');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
