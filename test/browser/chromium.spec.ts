import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium } from './chromium.js';

const failToInstall = (): Promise<void> => Promise.reject(new Error('apt-get could not install it'));

describe('the search for a browser', () => {
  let folder: string;
  const binaryFolders = (): string[] => [folder];
  const addBinary = async (name: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, '');
    await chmod(path, 0o755);
    return path;
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agent-sessions-browsers-'));
  });

  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  it('takes the browser that CHROMIUM_PATH names, or says that it cannot be run', async () => {
    await addBinary('chromium');
    const named = await addBinary('my-browser');
    expect(await findChromium({ env: { CHROMIUM_PATH: named }, binaryFolders })).toBe(named);
    const missing = findChromium({ env: { CHROMIUM_PATH: `${named}-2` }, binaryFolders });
    await expect(missing).rejects.toThrow(`CHROMIUM_PATH names ${named}-2`);
  });

  it('takes an installed one, and installs nothing then', async () => {
    const installed = await addBinary('google-chrome');
    const install = jest.fn();
    expect(await findChromium({ env: {}, binaryFolders, install })).toBe(installed);
    expect(install).not.toHaveBeenCalled();
  });

  const installIt = async (name: string): Promise<void> => void (await addBinary(name));

  it('installs one where that is possible', async () => {
    expect(await findChromium({ env: {}, binaryFolders, install: installIt })).toBe(join(folder, 'chromium'));
  });

  it('fails where there is none, and says what to install', async () => {
    await expect(findChromium({ env: {}, binaryFolders })).rejects.toThrow('sudo apt-get install chromium');
    const search = findChromium({ env: {}, binaryFolders, install: failToInstall });
    await expect(search).rejects.toThrow('apt-get could not install it');
  });
});
