import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { binaryFolders, findBinary } from './binaries.js';
import { freePort } from './free-port.js';
import { type InstallPackage, packageInstaller } from './install-packages.js';
import { Keeper } from './keeper.js';
import { mysqlOptionsOf } from './mysql-login.js';
import { mariaDbInstallation, startMariaDb } from './private-mariadb.js';
import type { PrivateServer } from './private-server.js';
import { LOGIN_LIMIT_MS } from './server-kind.js';

const NODES = [1, 2, 3];
const LIBRARIES = [
  '/usr/lib/galera/libgalera_smm.so',
  '/usr/lib64/galera-4/libgalera_smm.so',
  '/usr/lib64/galera/libgalera_smm.so',
  '/usr/lib/libgalera_smm.so',
];
const STATE_ID = '11111111-2222-3333-4444-555555555555';

/** Three MariaDB servers that write to each other. */
export interface GaleraCluster {
  readonly nodes: readonly [PrivateServer, PrivateServer, PrivateServer];
  stop(): Promise<void>;
}

interface GaleraBinaries {
  readonly command: string;
  readonly installer: string;
  readonly library: string;
}

/**
 * Starts a cluster of three nodes. Their first data are equal, and they take themselves for the members of a cluster that was
 * switched off: so they find together without copying data, which takes long.
 */
export async function startGaleraCluster(install = packageInstaller()): Promise<GaleraCluster> {
  const binaries = await galeraBinaries(install);
  const template = await Keeper.start();
  try {
    const how = await template.runToEnd(mariaDbInstallation(binaries.installer, template.folder));
    if (how !== '0') throw new Error(`${binaries.installer} ended with ${how}:\n${template.log()}`);
    const firstData = join(template.folder, 'data');
    // Another process may take a port before a node does, which then finds no other one.
    return await startNodes(binaries, firstData).catch(() => startNodes(binaries, firstData));
  } finally {
    await template.end();
  }
}

async function startNodes(binaries: GaleraBinaries, firstData: string): Promise<GaleraCluster> {
  const ports = await distinctPorts(2 * NODES.length);
  const addresses = NODES.map((_, index) => `127.0.0.1:${ports[index]}`).join();
  const starts = await Promise.allSettled(
    NODES.map((node, index) =>
      startMariaDb(binaries, {
        check: checkNode,
        firstData,
        beforeStart: (data) => writeFirstState(data, node),
        args: [
          '--binlog-format=ROW',
          '--innodb-autoinc-lock-mode=2',
          '--wsrep-on=ON',
          `--wsrep-provider=${binaries.library}`,
          '--wsrep-cluster-name=tests',
          `--wsrep-node-name=node-${node}`,
          '--wsrep-node-address=127.0.0.1',
          `--wsrep-cluster-address=gcomm://${addresses}`,
          '--wsrep-slave-threads=2',
          `--wsrep-provider-options=${providerOptions(ports[index] ?? 0, ports[NODES.length + index] ?? 0)}`,
        ],
      }),
    ),
  );
  const nodes = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  const stop = async (): Promise<void> => {
    // A node without the others takes long to stop.
    await Promise.all(nodes.map((node) => node.kill()));
    await Promise.all(nodes.map((node) => node.stop()));
  };
  const [first, second, third] = nodes;
  if (first && second && third) return { nodes: [first, second, third], stop };
  await stop();
  throw starts.find((start) => start.status === 'rejected')?.reason;
}

function providerOptions(port: number, stateTransferPort: number): string {
  return [
    `gmcast.listen_addr=tcp://127.0.0.1:${port}`,
    `base_port=${port}`,
    `ist.recv_addr=127.0.0.1:${stateTransferPort}`,
    'gcache.size=16M',
    // A node on a busy machine is late, not lost.
    'evs.suspect_timeout=PT30S',
    'evs.inactive_timeout=PT60S',
  ].join(';');
}

async function distinctPorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

/** Throws an error that says what to do if the library is missing and cannot be installed. */
async function galeraBinaries(install: InstallPackage | undefined): Promise<GaleraBinaries> {
  if (!find()) for (const name of ['mariadb-server', 'galera-4']) await install?.(name);
  const found = find();
  if (found) return found;
  throw new Error(
    'The tests of MariaDB Galera need mariadbd, mariadb-install-db and libgalera_smm.so: install the packages mariadb-server ' +
      'and galera-4 (sudo apt-get install mariadb-server galera-4, or what your system calls them). ' +
      'Or run the tests that need no server: npm run test:embedded',
  );
}

function find(): GaleraBinaries | undefined {
  const folders = binaryFolders();
  const command = findBinary('mariadbd', folders);
  const installer = findBinary('mariadb-install-db', folders);
  const library = LIBRARIES.find((path) => existsSync(path));
  return command && installer && library ? { command, installer, library } : undefined;
}

/** Lets a new node take itself for a member of a cluster whose nodes have all stopped with the same data. */
function writeFirstState(data: string, node: number): void {
  const stateFile = join(data, 'grastate.dat');
  if (existsSync(stateFile)) return;
  writeFileSync(
    stateFile,
    `# GALERA saved state\nversion: 2.1\nuuid:    ${STATE_ID}\nseqno:   0\nsafe_to_bootstrap: 0\n`,
  );
  const members = NODES.map((number) => `member: ${idOf(number)} 0`);
  const view = ['#vwbeg', `view_id: 3 ${idOf(1)} 3`, 'bootstrap: 0', ...members, '#vwend'];
  writeFileSync(join(data, 'gvwstate.dat'), [`my_uuid: ${idOf(node)}`, ...view, ''].join('\n'));
}

/** Throws unless the node has met the others. */
async function checkNode(address: string): Promise<void> {
  const connection = await createConnection({ ...mysqlOptionsOf(address), connectTimeout: LOGIN_LIMIT_MS });
  try {
    const [rows] = await connection.query<(RowDataPacket & { Variable_name: string; Value: string })[]>(
      "SHOW STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_cluster_size')",
    );
    const status = Object.fromEntries(rows.map((row) => [row.Variable_name, row.Value]));
    const isReady = status.wsrep_ready === 'ON' && status.wsrep_cluster_size === `${NODES.length}`;
    if (!isReady) throw new Error(`The node is not ready: ${JSON.stringify(status)}`);
  } finally {
    connection.destroy();
  }
}

function idOf(node: number): string {
  return `0000000${node}-1111-11f1-8111-000000000000`;
}
