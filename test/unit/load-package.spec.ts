import { runInNewContext } from 'node:vm';
import { ConfigurationError } from '../../src/config/configuration-error.js';
import { loadPackage } from '../../src/config/load-package.js';

function failing(code: string, message: string): () => Promise<never> {
  return () => Promise.reject(Object.assign(new Error(message), { code }));
}

describe('loadPackage', () => {
  it.each([
    ['ERR_MODULE_NOT_FOUND', "Cannot find package 'ioredis' imported from /app/dist/redis.js", 'ioredis@5'],
    ['ERR_MODULE_NOT_FOUND', "Cannot find package '@nestjs/schedule' imported from /app/x.js", '@nestjs/schedule@12'],
    ['MODULE_NOT_FOUND', "Cannot find module 'mysql2/promise'\nRequire stack:\n- /app/x.js", 'mysql2@3'],
  ])('says what to install: %s, %s', async (code, message, version) => {
    const loading = loadPackage(failing(code, message), 'The store');

    await expect(loading).rejects.toThrow(ConfigurationError);
    await expect(loading).rejects.toThrow(`run \`npm install ${version}\`.`);
  });

  it.each([
    ['ERR_MODULE_NOT_FOUND', "Cannot find module '/app/node_modules/ioredis/built/index.js' imported from /app/x.js"],
    ['ERR_MODULE_NOT_FOUND', String.raw`Cannot find module 'C:\app\index.js' imported from C:\app\x.js`],
    ['MODULE_NOT_FOUND', "Cannot find module './redis.js'\nRequire stack:\n- /app/x.js"],
    ['ERR_OUT_OF_RANGE', "Cannot find package 'ioredis'"],
  ])('rethrows an error that an installation would not fix: %s, %s', async (code, message) => {
    await expect(loadPackage(failing(code, message), 'The store')).rejects.toThrow(message);
  });

  it('recognises the error of a test runner, which comes from another realm', async () => {
    const error: unknown = runInNewContext(
      `Object.assign(new Error("Cannot find module 'ioredis' from 'redis.js'"), { code: 'MODULE_NOT_FOUND' })`,
    );
    const loading = loadPackage(() => Promise.reject(error), 'The store');

    await expect(loading).rejects.toThrow('The store needs the package ioredis: run `npm install ioredis@5`.');
  });
});
