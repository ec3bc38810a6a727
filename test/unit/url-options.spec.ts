import { ConfigurationError } from '../../src/index.js';
import { RedisSessionStorage } from '../../src/redis.js';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import { databaseUrlOptions, redisUrlOptions, urlForDriver } from '../../src/config/url-options.js';
import { tlsProblem } from '../../src/config/tls-settings.js';

const NAMES = { url: 'url', tls: 'tls' };
const FULL = { verify: 'full' };

describe('URL options', () => {
  it.each([
    ['postgres://h/db', undefined],
    ['postgres://h/db?sslmode=disable', false],
    ['postgres://h/db?sslmode=require', FULL],
    ['postgres://h/db?sslmode=verify-full&sslrootcert=system', FULL],
    ['postgresql://h/db?sslmode=verify-ca', { verify: 'ca' }],
    ['postgres://h/db?sslmode=no-verify', { verify: 'none' }],
    ['postgres://h/db?ssl=true', FULL],
    ['mysql://h/db', undefined],
    ['mysql://h/db?ssl=true', FULL],
    ['mysql://h/db?ssl=0', false],
    ['mysql://h/db?ssl={"rejectUnauthorized":true}', FULL],
    ['mysql://h/db?ssl={"rejectUnauthorized": false}', { verify: 'none' }],
    ['mariadb://h/db?ssl-mode=REQUIRED', FULL],
    ['mysql://h/db?ssl-mode=VERIFY_CA', { verify: 'ca' }],
    ['mysql://h/db?ssl-mode=DISABLED', false],
  ])('of %s set TLS', (url, tls) => {
    expect(databaseUrlOptions(url, NAMES)).toEqual({ problems: [], ...(tls !== undefined && { tls }) });
  });

  it('of PostgreSQL are passed to the driver if they are not about TLS', () => {
    const url = 'postgres://a:b%3Fc@h/db?host=/run/pg&sslmode=require&options=-c%20geqo%3Doff';
    expect(databaseUrlOptions(url, NAMES)).toEqual({ problems: [], tls: FULL });
    expect(urlForDriver(url)).toBe('postgres://a:b%3Fc@h/db?host=%2Frun%2Fpg&options=-c+geqo%3Doff');
    expect(urlForDriver('mysql://h/db?ssl=true')).toBe('mysql://h/db');
  });

  it.each([
    ['redis://h', undefined],
    ['redis://h:1/2?family=6', undefined],
    ['rediss://h', true],
  ])('of %s turn TLS on or off', (url, tls) => {
    expect(redisUrlOptions(url, NAMES)).toEqual({ problems: [], ...(tls !== undefined && { tls }) });
  });

  it('are checked for stores created without the module, too', async () => {
    const storage = new TypeOrmSessionStorage({ url: 'mysql://app:hunter2@127.0.0.1:1/db?useSSL=true' });
    const error: unknown = await storage.open().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as Error).message).toContain('url has the option useSSL');
    expect((error as Error).message).not.toContain('hunter2');
    expect(() => new RedisSessionStorage({ url: 'redis://:hunter2@127.0.0.1:1?tls=true' })).toThrow(
      'url has the option tls, which is not supported; remove it.',
    );
    const nodes = ['rediss://127.0.0.1:1?ssl=true'];
    expect(() => new RedisSessionStorage({ cluster: nodes })).toThrow('cluster[0] has the option ssl');
  });
});

describe('tlsProblem', () => {
  it.each([
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate', 'signed by itself'],
    ['HANDSHAKE_SSL_ERROR', 'unable to verify the first certificate', 'by an authority that is not known'],
    ['CERT_HAS_EXPIRED', 'certificate has expired', 'it has expired'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', "Hostname/IP does not match certificate's altnames", 'it is for another host'],
    ['HANDSHAKE_NO_SSL_SUPPORT', 'Server does not support secure connection', 'TLS is not spoken by db:1'],
    ['', 'The server does not support SSL connections', 'TLS is not spoken by db:1'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'wrong version number', 'TLS is not spoken by db:1'],
  ])('explains a failed TLS connection: %s', (code, message, explanation) => {
    expect(tlsProblem(code, message, 'db:1')).toContain(explanation);
  });

  it('ignores failures with other causes', () => {
    expect(tlsProblem('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1', 'db:1')).toBeUndefined();
    expect(tlsProblem('28P01', 'password authentication failed for user "cert"', 'db:1')).toBeUndefined();
  });
});
