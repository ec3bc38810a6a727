import { findServer, type Machine } from './find-server.js';
import { mariadb } from './mariadb.js';
import { postgres } from './postgres.js';
import { ProvidedServers } from './provided-servers.js';
import { redisCluster } from './redis-cluster.js';
import { redis } from './redis.js';
import type { ServerKind } from './server-kind.js';

const failToInstall = (): Promise<never> => Promise.reject(new Error('no network'));
const emptyMachine: Machine = { env: {}, binaryFolders: () => [] };

describe('findServer', () => {
  let running: string[];
  let stopped: number;

  beforeEach(() => {
    running = ['named', 'usual'];
    stopped = 0;
  });

  const kind: ServerKind = {
    name: 'Abacus',
    variable: 'TEST_ABACUS_URL',
    example: 'abacus://me:secret@127.0.0.1:1',
    usualAddresses: ['taken', 'usual'],
    async check(address) {
      if (!running.includes(address)) throw new Error('connection refused');
      return '1.2';
    },
    binaries: ['abacusd', 'abacus-init'],
    debianPackage: 'abacus-server',
    starter(folders) {
      if (!folders.includes('/abacus')) return undefined;
      return async () => {
        running.push('private');
        return { address: 'private', processes: [], stop: async () => void stopped++ };
      };
    },
  };
  const withBinaries: Machine = { env: {}, binaryFolders: () => ['/abacus'] };

  it('uses the server named in the environment first', async () => {
    const env = { TEST_ABACUS_URL: 'named', TEST_SERVERS: 'private' };
    const found = await findServer(kind, { ...withBinaries, env });

    expect(found).toMatchObject({ address: 'named', version: '1.2', origin: 'named in the environment' });
  });

  it('fails if the server named in the environment does not work, and hides its password', async () => {
    const env = { TEST_ABACUS_URL: 'abacus://me:hidden@far.away:1' };

    await expect(findServer(kind, { ...withBinaries, env })).rejects.toThrow(
      'TEST_ABACUS_URL names abacus://me:***@far.away:1, which is of no use: connection refused',
    );
  });

  it('uses a running server next', async () => {
    const found = await findServer(kind, withBinaries);
    await found.stop();

    expect(found).toMatchObject({ address: 'usual', origin: 'already running' });
    expect(stopped).toBe(0);
  });

  it('starts a private server next', async () => {
    running = [];
    const found = await findServer(kind, withBinaries);
    await found.stop();

    expect(found).toMatchObject({ address: 'private', origin: 'started for this run' });
    expect(stopped).toBe(1);
  });

  it('starts a private server at once with TEST_SERVERS=private', async () => {
    const found = await findServer(kind, { ...withBinaries, env: { TEST_SERVERS: 'private' } });

    expect(found.address).toBe('private');
  });

  it('installs the package if the programs are missing', async () => {
    running = [];
    const folders: string[] = [];
    const install = async (name: string): Promise<void> => void folders.push(name === 'abacus-server' ? '/abacus' : '');
    const found = await findServer(kind, { env: {}, binaryFolders: () => folders, install });

    expect(found.address).toBe('private');
  });

  it('reports all attempts and what to do, if every attempt fails', async () => {
    running = [];

    await expect(findServer(kind, emptyMachine)).rejects.toThrow(
      [
        'The tests need Abacus and found none.',
        '  - TEST_ABACUS_URL is not set',
        '  - taken: connection refused',
        '  - usual: connection refused',
        '  - abacusd and abacus-init: not on the PATH',
        'Install the package abacus-server (sudo apt-get install abacus-server, or what your system calls it),',
        'or name a server: TEST_ABACUS_URL=abacus://me:secret@127.0.0.1:1',
        'Or run the tests that need no server: npm run test:embedded',
      ].join('\n'),
    );
  });

  it('reports a failed installation', async () => {
    running = [];
    await expect(findServer(kind, { ...emptyMachine, install: failToInstall })).rejects.toThrow(
      '  - a private one: no network\n',
    );
  });

  it.each([redis, redisCluster, mariadb, postgres])('explains what to do without $name', async (real) => {
    const search = findServer({ ...real, usualAddresses: [] }, emptyMachine);

    await expect(search).rejects.toThrow(`${real.binaries.join(' and ')}: not on the PATH`);
    await expect(search).rejects.toThrow(`sudo apt-get install ${real.debianPackage}`);
    await expect(search).rejects.toThrow(`${real.variable}=${real.example}`);
  });
});

describe('ProvidedServers for stores without a server', () => {
  it('starts no server', async () => {
    const lines: string[] = [];
    const servers = await ProvidedServers.for(['memory', 'sqlite'], emptyMachine, (line) => lines.push(line));
    await servers.stop();

    expect(emptyMachine.env).toEqual({});
    expect(lines).toEqual([]);
  });
});
