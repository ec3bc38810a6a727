// Makes the packages that the app of `npm start` loads dependencies, in package.json and in its lock file, so that `npm ci --omit=dev`
// installs them and no more. For the package they are optional peers, or nothing.
import { readFileSync, writeFileSync } from 'node:fs';

const APP_PACKAGES = [
  '@ag-ui/core',
  '@ai-sdk/openai-compatible',
  '@apollo/server',
  '@as-integrations/express5',
  '@nestjs/apollo',
  '@nestjs/common',
  '@nestjs/config',
  '@nestjs/core',
  '@nestjs/graphql',
  '@nestjs/platform-express',
  '@nestjs/schedule',
  '@nestjs/swagger',
  '@nestjs/terminus',
  '@nestjs/throttler',
  'ai',
  'class-transformer',
  'class-validator',
  'google-auth-library',
  'graphql',
  'graphql-ws',
  'ioredis',
  'jose',
  'libsql',
  'mysql2',
  'pg',
  'prom-client',
  'reflect-metadata',
  'rxjs',
  'typeorm',
  'ws',
];

for (const file of ['package.json', 'package-lock.json']) {
  const content = JSON.parse(readFileSync(file, 'utf8'));
  const manifest = content.packages?.[''] ?? content;
  for (const name of APP_PACKAGES) {
    const version = manifest.devDependencies[name];
    if (version === undefined) throw new Error(`${name} is not among the devDependencies of ${file}`);
    delete manifest.devDependencies[name];
    manifest.dependencies[name] = version;
  }
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
}
