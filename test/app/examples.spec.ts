import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const folder = join(__dirname, '../../examples');
const run = promisify(execFile);

/** The examples run as a reader runs them: the built package, plain Node. */
describe('the examples', () => {
  const examples = readdirSync(folder).filter((file) => file.endsWith('.mjs'));

  it('are there', () => {
    expect(examples.length).toBeGreaterThanOrEqual(4);
  });

  it.each(examples)('%s prints what stands beside it', async (file) => {
    const { stdout, stderr } = await run(process.execPath, [join(folder, file)]);
    expect(stderr).toBe('');
    expect(stdout).toBe(readFileSync(join(folder, file.replace('.mjs', '.out.txt')), 'utf8'));
  });
});
