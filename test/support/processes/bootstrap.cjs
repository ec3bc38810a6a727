'use strict';

/* eslint-disable no-underscore-dangle -- Node names its hooks so */

/**
 * Runs a TypeScript module of this project in its own process, compiled in the same way as by Jest:
 * `node bootstrap.cjs <module>`. The tests start hundreds of these processes, so compiled code
 * is cached beside the installed packages until the source or the compiler changes.
 */
const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const { dirname, join } = require('node:path');

const CACHE = join(__dirname, '../../../node_modules/.cache/worker-processes');

async function run(file) {
  const { default: jestConfig } = await import('../../../jest.config.js');
  const [[, options]] = Object.values(jestConfig.transform);
  const compiler = `${require('@swc/core/package.json').version}\n${JSON.stringify(options)}\n`;
  mkdirSync(CACHE, { recursive: true });
  Module._extensions['.ts'] = (module, filename) => {
    const text = readFileSync(filename, 'utf8');
    const key = createHash('sha256').update(compiler).update(`${filename}\n`).update(text).digest('hex');
    module._compile(compiled(join(CACHE, key), text, { ...options, filename }), filename);
  };
  const resolveFilename = Module._resolveFilename;
  Module._resolveFilename = function (request, parent, ...rest) {
    const isOwn = request.startsWith('.') && request.endsWith('.js') && parent?.filename.endsWith('.ts');
    if (isOwn) return join(dirname(parent.filename), request.replace(/\.js$/, '.ts'));
    return resolveFilename.call(this, request, parent, ...rest);
  };
  require(file);
}

function compiled(cacheFile, text, options) {
  try {
    return readFileSync(cacheFile, 'utf8');
  } catch {
    const { code } = require('@swc/core').transformSync(text, options);
    // Several processes may write the same file, and none may read an incomplete one.
    writeFileSync(`${cacheFile}.${process.pid}`, code);
    renameSync(`${cacheFile}.${process.pid}`, cacheFile);
    return code;
  }
}

void run(process.argv[2]);
