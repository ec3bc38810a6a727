import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const demo = join(__dirname, '../../demo/run.mjs');

/** Lines that the demo must print, in this order. */
const ESSENTIAL = [
  /^Agent Sessions for NestJS: the app runs on http:/,
  /^1\. A conversation, with state in four scopes$/,
  /^ {5}this session .*"user:language":"en".*"step":"tracking"/,
  /^ {5}a session of Bob’s {"app:currency":"EUR"}$/,
  /^2\. /,
  /^ {5}duplicate: true; both times it is number 3 of the log$/,
  /^ {5}refused: 412 STALE_SESSION, the session is at version 3$/,
  /^3\. /,
  /^ {5}seen by \d+: {2}4 {2}agent: Yes/,
  /^ {5}seen by \d+: {2}5 {2}user: Lovely/,
  /^4\. /,
  /^ {5}2 of 5 events/,
  /^5\. /,
  /^ {5}summary /,
  /^ {5}a reader sees 5 events; all 11 are in the log still$/,
  /^6\. kill -9/,
  /^ {5}process \d+ has version 12/,
  /^7\. /,
  /^ {5}after \d\.\d s it is gone$/,
  /^That was all\./,
];

describe('npm run demo', () => {
  it('shows all features, ends by itself and cleans up', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'agent-sessions-demo-test-'));
    const env = { ...process.env, TMPDIR: folder };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [demo], { env, timeout: 80_000 });
    expect(stderr).toBe('');
    const lines = stdout.split('\n');
    let place = 0;
    for (const pattern of ESSENTIAL) {
      const found = lines.findIndex((line, index) => index >= place && pattern.test(line));
      expect({ pattern, isShown: found >= 0 }).toEqual({ pattern, isShown: true });
      place = found + 1;
    }
    expect(await readdir(folder)).toEqual([]);
    await rm(folder, { recursive: true });
  }, 90_000);
});
