import { createConnection } from 'mysql2/promise';
import { Client } from 'pg';
import { ConfigurationError } from '../../src/index.js';
import { sessionsFromEnvironment } from '../../src/config/index.js';
import { checkModuleOptions } from '../../src/config/check-options.js';
import { typeOrmStorageOf } from '../../src/sessions/storage/typeorm/typeorm-session-storage.js';
import { type ServerOptions, TypeOrmSessionStorage } from '../../src/typeorm.js';
import { startMariaDb } from '../servers/private-mariadb.js';
import { startPostgres } from '../servers/private-postgres.js';
import type { PrivateServer } from '../servers/private-server.js';
import { requiredBinary } from '../support/processes/killable-stores.js';
import { describeChosen } from '../support/processes/shared-stores.js';
import { Certificates } from './certificates.js';
import { openingError, useStore } from './observed-store.js';

/** A server with a database for sessions and the user `app`. */
interface SecureServer {
  readonly server: PrivateServer;
  /** A URL without options. */
  readonly url: string;
  /** Throws if a connection of a store is not encrypted. */
  checkConnections(): Promise<void>;
}

const mariaDbBinaries = () => ({
  command: requiredBinary('mariadbd'),
  installer: requiredBinary('mariadb-install-db'),
});
const postgresBinaries = () => ({ command: requiredBinary('postgres'), initdb: requiredBinary('initdb') });

const PASSWORD = 'hunter2';

async function secureMariaDb(certificates: Certificates): Promise<SecureServer> {
  const server = await startMariaDb(mariaDbBinaries(), {
    args: filesFor({ cert: '--ssl-cert', key: '--ssl-key', ca: '--ssl-ca' }, certificates),
  });
  const { port } = new URL(server.address);
  const admin = await createConnection({ host: '127.0.0.1', port: Number(port), user: 'root' });
  await admin.query('CREATE DATABASE agents');
  // The user cannot log in without TLS.
  await admin.query(`CREATE USER app IDENTIFIED BY '${PASSWORD}' REQUIRE SSL`);
  await admin.query('GRANT ALL ON agents.* TO app');
  await admin.end();
  return {
    server,
    url: `mysql://app:${PASSWORD}@127.0.0.1:${port}/agents`,
    checkConnections: async () => undefined,
  };
}

async function securePostgres(certificates: Certificates): Promise<SecureServer> {
  const server = await startPostgres(postgresBinaries(), {
    settings: [
      'ssl=on',
      `ssl_cert_file=${certificates.path('server.pem')}`,
      `ssl_key_file=${certificates.path('postgres.key')}`,
    ],
  });
  const address = new URL(server.address);
  address.password = PASSWORD;
  return {
    server,
    url: address.href,
    async checkConnections() {
      const client = new Client({ connectionString: server.address });
      await client.connect();
      const { rows } = await client.query<{ ssl: boolean; count: string }>(
        `SELECT ssl, count(*) AS count FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
         WHERE application_name = 'nestjs-agent-sessions' GROUP BY ssl`,
      );
      await client.end();
      expect(rows).toEqual([{ ssl: true, count: expect.any(String) as string }]);
    },
  };
}

function filesFor(names: { cert: string; key: string; ca: string }, certificates: Certificates): string[] {
  const { cert, key, ca } = names;
  return [
    `${cert}=${certificates.path('server.pem')}`,
    `${key}=${certificates.path('server.key')}`,
    `${ca}=${certificates.path('ca.pem')}`,
  ];
}

const SERVERS = [
  {
    name: 'mariadb',
    start: secureMariaDb,
    startPlain: () => startMariaDb(mariaDbBinaries(), { args: ['--skip-ssl'] }),
    verifying: (ca: string) => `?ssl-mode=VERIFY_IDENTITY&ssl-ca=${encodeURIComponent(ca)}`,
    withoutVerification: '?ssl=no-verify',
    plain: '?ssl-mode=DISABLED',
  },
  {
    name: 'postgres',
    start: securePostgres,
    startPlain: () => startPostgres(postgresBinaries()),
    verifying: (ca: string) => `?sslmode=verify-full&sslrootcert=${encodeURIComponent(ca)}`,
    withoutVerification: '?sslmode=no-verify',
    plain: '?sslmode=disable',
  },
] as const;

describeChosen(
  'a store on $name with TLS',
  SERVERS,
  ({ name, start, startPlain, verifying, withoutVerification, plain }) => {
    let certificates: Certificates;
    let secure: SecureServer;
    let ca: string;

    beforeAll(async () => {
      certificates = await Certificates.create();
      ca = await certificates.text('ca.pem');
      secure = await start(certificates);
    });
    afterAll(async () => {
      await secure.server.stop();
      await certificates.remove();
    });

    const storage = (options: Partial<ServerOptions>): TypeOrmSessionStorage =>
      new TypeOrmSessionStorage({ url: secure.url, timeLimitMs: 5_000, ...options });
    const wrongHostUrl = (): string => secure.url.replace('127.0.0.1', 'localhost');
    const check = (): Promise<void> => secure.checkConnections();

    it('encrypts and verifies the server with the given certificate authority', async () => {
      await useStore(storage({ tls: { ca } }), check);
    });

    it('can be configured with options of the URL', async () => {
      await useStore(storage({ url: secure.url + verifying(certificates.path('ca.pem')) }), check);
      await useStore(storage({ url: secure.url + withoutVerification }), check);
    });

    it('can be configured with variables', async () => {
      const config = sessionsFromEnvironment({
        SESSIONS_DATABASE_URL: secure.url,
        SESSIONS_DATABASE_TLS: 'verify',
        SESSIONS_DATABASE_TLS_CA: certificates.path('ca.pem'),
        SESSIONS_DATABASE_TLS_CERT: certificates.path('client.pem'),
        SESSIONS_DATABASE_TLS_KEY: certificates.path('client.key'),
      });
      if (config.provider !== 'typeorm' || !config.database) throw new Error('Another store was chosen');
      checkModuleOptions(config);
      await useStore(typeOrmStorageOf(config.database, undefined), check);
    });

    it('refuses a server with an unknown certificate authority, and says what to do', async () => {
      const error = await openingError(storage({ tls: true }));
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error.message).toMatch(/The certificate of the server at 127.0.0.1:\d+ cannot be verified .*no-verify/);
      expect(error.message).not.toContain(PASSWORD);
    });

    it('refuses a certificate for another host, unless verify is ca', async () => {
      const error = await openingError(storage({ url: wrongHostUrl(), tls: { ca } }));
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error.message).toContain('it is for another host');
      await useStore(storage({ url: wrongHostUrl(), tls: { ca, verify: 'ca' } }), check);
      expect((await openingError(storage({ url: wrongHostUrl(), tls: { verify: 'ca' } }))).message).toContain(
        'not known',
      );
    });

    if (name === 'postgres') {
      it('verifies the host that an option of the URL names', async () => {
        const url = secure.url.replace('127.0.0.1', 'nowhere.invalid');
        await useStore(storage({ url: `${url}?host=127.0.0.1`, tls: { ca } }), check);
        const error = await openingError(storage({ url: `${secure.url}?host=localhost`, tls: { ca } }));
        expect(error.message).toContain('it is for another host');
      });
    }

    it('skips verification only with no-verify', async () => {
      await useStore(storage({ url: wrongHostUrl(), tls: 'no-verify' }), check);
    });

    it('refuses a server without TLS', async () => {
      const server = await startPlain();
      const error = await openingError(
        storage({ url: `${server.address.replace(/\/postgres$/, '')}/agents`, tls: 'no-verify' }),
      );
      await server.stop();
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error.message).toMatch(/TLS is not spoken by the server at 127.0.0.1:\d+/);
    });

    it('connects in plain text only without TLS options', async () => {
      const opened = storage({ url: secure.url + plain });
      if (name === 'postgres') await useStore(opened);
      else expect((await openingError(opened)).message).toContain('refused the login');
    });
  },
);
