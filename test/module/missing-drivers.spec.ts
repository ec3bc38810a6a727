import { SessionsModule } from '../../src/index.js';
import { loadPackage } from '../../src/config/load-package.js';
import { startApp } from './support/apps.js';

jest.mock('libsql', () => {
  throw new Error("Cannot find package 'libsql'");
});

describe('a missing database driver', () => {
  it('of SQLite is named', async () => {
    const sessionsModule = SessionsModule.forRoot({ provider: 'typeorm', database: { database: ':memory:' } });
    await expect(startApp([sessionsModule])).rejects.toThrow('needs the package libsql: run `npm install libsql@0.5`.');
  });

  it.each([
    ['mysql2@3', 'Mysql package has not been found installed. Please run "npm install mysql2".'],
    // As TypeORM 0.3 says it.
    ['mysql2@3', 'Mysql package has not been found installed. Please run "npm install mysql".'],
    ['pg@8', 'Postgres package has not been found installed. Please run "npm install pg".'],
  ])('of a database server is named: %s', async (version, message) => {
    const load = () => Promise.reject(Object.assign(new Error(message), { name: 'DriverPackageNotInstalledError' }));
    await expect(loadPackage(load, 'The typeorm provider')).rejects.toMatchObject({
      problems: [`The typeorm provider needs the package ${version.split('@')[0]}: run \`npm install ${version}\`.`],
    });
  });

  it('is not reported for other errors', async () => {
    const other = new Error('The disk is full');
    await expect(loadPackage(() => Promise.reject(other), 'The typeorm provider')).rejects.toBe(other);
  });
});
