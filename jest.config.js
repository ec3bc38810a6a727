/** Own TypeScript and the ESM packages of Nest are compiled to CommonJS by SWC; no experimental flags. */
const swc = [
  '@swc/jest',
  {
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true, dynamicImport: true },
      // The AI SDK is an ES module from version 7 on: see `npm run docs:adapters -- --next`.
      transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
      keepClassNames: true,
    },
    module: { type: 'commonjs' },
  },
];

export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  // So long that only what hangs is stopped by it, however busy the machine is.
  testTimeout: 240_000,
  globalSetup: '<rootDir>/test/servers/global-setup.ts',
  globalTeardown: '<rootDir>/test/servers/global-teardown.ts',
  maxWorkers: '100%',
  // Google's ADK requires an ES module that has the same functions in a package for CommonJS.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1', '^lodash-es$': 'lodash' },
  transform: { '^.+\\.(ts|m?js)$': swc },
  transformIgnorePatterns: [
    '/node_modules/(?!(@nestjs|typeorm|file-type|load-esm|strtok3|token-types|uint8array-extras|@tokenizer|@borewit|es-toolkit|fast-check|pure-rand|@anthropic-ai/claude-agent-sdk|@fastify/static|content-disposition|arktype|@ark/|arkregex|jose|better-auth|@better-auth|better-call|@better-fetch|@noble|nanostores|rou3|defu|kysely|ai/|@ai-sdk/|@workflow/|eventsource-parser|@standard-schema|zod/))',
  ],
};
