import { versionedName } from '../../src/config/install-command.js';

const supported = {
  '@ai-sdk/openai-compatible': '^2.0.0 || ^3.0.0',
  '@nestjs/core': '^11.0.1 || ^12.0.0',
  '@nestjs/schedule': '^6.0.0 || ^12.0.0',
  ioredis: '^5.3.0',
  libsql: '^0.4.0 || ^0.5.1',
};

describe('versionedName', () => {
  it.each([
    ['@nestjs/schedule', 11, '@nestjs/schedule@6'],
    ['@nestjs/schedule', 12, '@nestjs/schedule@12'],
    ['ioredis', 11, 'ioredis@5'],
    ['libsql', 11, 'libsql@0.5'],
    ['left-pad', 12, 'left-pad'],
  ])('of %s with Nest %i is %s', (name, nestMajor, expected) => {
    expect(versionedName(name, { supported, nestMajor, nodeMajor: 24 })).toBe(expected);
  });

  it.each([
    [20, '@ai-sdk/openai-compatible@2'],
    [22, '@ai-sdk/openai-compatible@3'],
  ])('with Node %i is %s', (nodeMajor, expected) => {
    expect(versionedName('@ai-sdk/openai-compatible', { supported, nestMajor: 12, nodeMajor })).toBe(expected);
  });

  it('is the name alone in an app that does not say what it has', () => {
    expect(versionedName('ioredis', { supported: {}, nestMajor: 0, nodeMajor: 24 })).toBe('ioredis');
  });
});
