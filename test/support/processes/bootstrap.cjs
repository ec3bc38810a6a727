'use strict';

/* eslint-disable no-underscore-dangle -- Node names its hooks so */

/**
 * Runs a TypeScript module of this project in a process of its own, compiled on the fly just as Jest
 * compiles it: `node bootstrap.cjs <module>`.
 */
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const { transformSync } = require('@swc/core');

async function run(file) {
  const { default: jestConfig } = await import('../../../jest.config.js');
  const [[, options]] = Object.values(jestConfig.transform);
  Module._extensions['.ts'] = (module, filename) => {
    const { code } = transformSync(readFileSync(filename, 'utf8'), { ...options, filename, sourceMaps: 'inline' });
    module._compile(code, filename);
  };
  const resolveFilename = Module._resolveFilename;
  Module._resolveFilename = function (request, parent, ...rest) {
    const isOwn = request.startsWith('.') && parent?.filename.endsWith('.ts');
    return resolveFilename.call(this, isOwn ? request.replace(/\.js$/, '.ts') : request, parent, ...rest);
  };
  require(file);
}

void run(process.argv[2]);
