import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const BOOTSTRAP = join(__dirname, '../support/processes/bootstrap.cjs');

describe('256 appends of a megabyte of state', () => {
  it('do not end a process with a small heap', async () => {
    const program = ['--max-old-space-size=128', BOOTSTRAP, join(__dirname, '../support/large-state.ts')];
    const { stdout } = await promisify(execFile)(process.execPath, program);
    expect(JSON.parse(stdout)).toEqual({ stored: 4, refused: 252, keys: 4, listed: 1, at: 4 });
  });
});
