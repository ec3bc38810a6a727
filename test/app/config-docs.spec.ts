import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const script = join(__dirname, '../../docs/config-tables.mjs');

describe('docs/configuration.md and .env.example', () => {
  it('say what the variables are; else: npm run docs:config', async () => {
    await expect(promisify(execFile)(process.execPath, [script, '--check'])).resolves.toMatchObject({ stderr: '' });
  });
});
