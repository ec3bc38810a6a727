import { execFile } from 'node:child_process';
import { chmod, chown, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ownerOfPostgres } from '../servers/private-postgres.js';
import { requiredBinary } from '../support/processes/killable-stores.js';

const run = promisify(execFile);
const DAYS = ['-days', '2'];
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** A certificate authority in a temporary folder, with certificates of a server at 127.0.0.1 and of a client. */
export class Certificates {
  private constructor(readonly folder: string) {}

  static async create(): Promise<Certificates> {
    const certificates = new Certificates(await mkdtemp(join(tmpdir(), 'agent-sessions-tls-')));
    await chmod(certificates.folder, 0o755);
    const ca = [
      '-keyout',
      certificates.path('ca.key'),
      '-out',
      certificates.path('ca.pem'),
      '-subj',
      '/CN=Authority of a test',
    ];
    await certificates.#openssl('req', '-x509', ...NEW_KEY, ...DAYS, ...ca);
    // Not valid for localhost, so that tests can connect with a wrong host name.
    await certificates.#issue('server', 'subjectAltName=IP:127.0.0.1');
    await certificates.#issue('client', 'subjectAltName=DNS:client.example');
    await copyFile(certificates.path('server.key'), certificates.path('postgres.key'));
    await chmod(certificates.path('postgres.key'), 0o600);
    // PostgreSQL requires that it owns its key file.
    const { uid, gid } = ownerOfPostgres();
    if (uid !== undefined && gid !== undefined) await chown(certificates.path('postgres.key'), uid, gid);
    return certificates;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  text(name: string): Promise<string> {
    return readFile(this.path(name), 'utf8');
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true });
  }

  async #issue(name: string, extension: string): Promise<void> {
    const [key, request, certificate] = [`${name}.key`, `${name}.csr`, `${name}.pem`].map((file) => this.path(file));
    if (!key || !request || !certificate) return;
    const extensions = this.path(`${name}.ext`);
    await writeFile(extensions, `${extension}\n`);
    await this.#openssl('req', ...NEW_KEY, '-keyout', key, '-out', request, '-subj', `/CN=${name}`);
    const authority = ['-CA', this.path('ca.pem'), '-CAkey', this.path('ca.key'), '-CAcreateserial'];
    await this.#openssl(
      'x509',
      '-req',
      '-in',
      request,
      ...authority,
      '-out',
      certificate,
      ...DAYS,
      '-extfile',
      extensions,
    );
  }

  async #openssl(...args: readonly string[]): Promise<void> {
    await run(requiredBinary('openssl'), [...args]);
  }
}
