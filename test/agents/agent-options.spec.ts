import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { AgentsModule, type AgentsModuleOptions } from '../../src/agents/index.js';
import { InMemorySessionStorage, SessionsModule } from '../../src/index.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { echo } from './support/handlers.js';

const TIMER = 'it must be a whole number from 0 to 2147483647.';
const OPTIONS =
  'sessions, turnTtlMs, pollMs, graceMs, drainMs, maxRuns, maxTempBytes, maxWaitingBytes, partials, newId, onError, onRunFailure';

const MISTAKES: readonly (readonly [options: object, ...problems: string[]])[] = [
  [
    { turnTtlMs: 50, graceMs: -1, pollMs: 'x' },
    'turnTtlMs is 50; it must be a whole number from 100 to 86400000.',
    'pollMs is "x"; it must be a whole number from 1 to 2147483647.',
    `graceMs is -1; ${TIMER}`,
  ],
  [{ drainMs: 3_600_001 }, 'drainMs is 3600001; it must be a whole number from 0 to 3600000.'],
  [
    { partials: { flushMS: 1 } },
    'partials.flushMS is no option; did you mean partials.flushMs? There are flushMs, maxBytes, ttlSeconds.',
  ],
  [{ partials: { maxBytes: 0 } }, 'partials.maxBytes is 0; it must be a whole number from 1 on.'],
  [{ partials: true }, 'partials is true; it must be an object of settings, or false.'],
  [
    { maxRuns: { perUser: 0, perusers: 1 } },
    'maxRuns.perusers is no option; did you mean maxRuns.perUser? There are perUser, perApp, perProcess.',
    'maxRuns.perUser is 0; it must be a whole number from 1 to 10000.',
  ],
  [{ maxRuns: { perApp: 10_001 } }, 'maxRuns.perApp is 10001; it must be a whole number from 1 to 10000.'],
  [{ maxRuns: 5 }, 'maxRuns is 5; it must be an object of settings.'],
  [
    { maxTempBytes: -1, maxWaitingBytes: 0.5 },
    'maxTempBytes is -1; it must be a whole number from 0 on.',
    'maxWaitingBytes is 0.5; it must be a whole number from 0 on.',
  ],
  [{ newId: 'uuid' }, 'newId is "uuid"; it must be a function.'],
  [{ drainMS: 1 }, `drainMS is no option; did you mean drainMs? There are ${OPTIONS}.`],
];
const CASES = MISTAKES.map(([options, ...problems]) => ({ options, problems }));

const invalid = (problems: readonly string[]): object => ({ code: 'CONFIGURATION_INVALID', problems });

async function started(options: AgentsModuleOptions): Promise<INestApplication> {
  const imports = [SessionsModule.forRoot({ provider: 'memory', isGlobal: true }), AgentsModule.forRoot(options)];
  return (await Test.createTestingModule({ imports }).compile()).createNestApplication().init();
}

describe('a mistake in the options of agents', () => {
  it.each(CASES)('is refused when they are made: $options', ({ options, problems }) => {
    const make = (): unknown => new AgentApp(new InMemorySessionStorage(), options);
    expect(make).toThrow(expect.objectContaining(invalid(problems)));
  });

  it.each([
    [{ turnTtlMs: 50 }, 'turnTtlMs is 50; it must be a whole number from 100 to 86400000.'],
    [{ expireApprovalsMs: -1 }, `expireApprovalsMs is -1; ${TIMER}`],
  ])('keeps the app from starting: %j', async (options, problem) => {
    await expect(started(options)).rejects.toMatchObject(invalid([problem]));
  });

  it('is none if an option is undefined', async () => {
    const missing = {
      turnTtlMs: undefined,
      partials: { flushMs: undefined } as object,
      maxRuns: { perProcess: undefined },
    };
    const app = new AgentApp(new InMemorySessionStorage(), { ...missing, newId: undefined });
    expect((await app.agents.run({ ...KEY, newMessage: 'hi' }, echo).result).status).toBe('completed');
    await app.close();
  });

  it.each([' ', '', 7, 'x'.repeat(151)])('is no mistake of the client if newId returns %j', async (id) => {
    const app = new AgentApp(new InMemorySessionStorage(), { newId: () => id as string });
    const run = (): unknown => app.agents.run({ ...KEY, newMessage: 'hi' }, echo);
    expect(run).toThrow(expect.objectContaining({ code: 'CONFIGURATION_INVALID' }));
    await app.close();
  });
});
