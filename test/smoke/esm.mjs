import * as root from 'nestjs-agent-sessions';
import * as redis from 'nestjs-agent-sessions/redis';
import * as testing from 'nestjs-agent-sessions/testing';
import * as typeorm from 'nestjs-agent-sessions/typeorm';
import checkPackage from './check-package.cjs';

await checkPackage({ root, typeorm, redis, testing });
console.log('smoke test passed: ES modules');
