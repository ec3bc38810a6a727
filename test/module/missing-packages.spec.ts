import { SessionsModule } from '../../src/index.js';
import { startApp } from './support/apps.js';

/** Throws the error of Node for a package that is not installed. */
const mockMissing = (name: string): never => {
  throw Object.assign(new Error(`Cannot find package '${name}' imported from /app/dist/x.js`), {
    code: 'ERR_MODULE_NOT_FOUND',
  });
};

jest.mock('ioredis', () => mockMissing('ioredis'));
jest.mock('typeorm', () => mockMissing('typeorm'));
jest.mock('@nestjs/schedule', () => mockMissing('@nestjs/schedule'));

describe('a missing package', () => {
  it.each([
    ['The redis provider', 'ioredis@5', SessionsModule.forRoot({ provider: 'redis' })],
    [
      'The typeorm provider',
      'typeorm@1',
      SessionsModule.forRoot({ provider: 'typeorm', database: { database: ':memory:' } }),
    ],
    [
      'The cleanup of expired sessions (cleanup: false does without)',
      '@nestjs/schedule@12',
      SessionsModule.forRoot({ provider: 'memory', ttl: { enabled: true } }),
    ],
  ])('is named by the part that needs it: %s', async (neededBy, version, sessionsModule) => {
    const name = version.slice(0, version.lastIndexOf('@'));
    const problem = `${neededBy} needs the package ${name}: run \`npm install ${version}\`.`;
    await expect(startApp([sessionsModule])).rejects.toMatchObject({ problems: [problem] });
  });

  it.each([
    ['nothing expires', {}],
    ['the cleanup is off', { ttl: { enabled: true }, cleanup: false }],
    ['the cleanup has no interval', { ttl: { enabled: true, cleanupIntervalSeconds: 0 } }],
  ])('is not reported if %s', async (_title, options) => {
    const app = await startApp([SessionsModule.forRoot({ provider: 'memory', ...options })]);
    await app.close();
  });
});
