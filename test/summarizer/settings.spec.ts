import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { ConfigurationError, summarizerFromEnvironment } from '../../src/config/index.js';
import { type SummarizerOptions, checkedOptions } from '../../src/summarizer/summarizer-options.js';
import { SummarizerSessionManager } from '../../src/summarizer/summarizer-session.manager.js';
import { turnsOver } from '../../src/summarizer/thresholds.js';

const languageModel = { specificationVersion: 'v2', modelId: 'some', doGenerate: async () => ({}) };

function problemsOf(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    checkedOptions(summarizerFromEnvironment(env));
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

/** Settings of an untyped caller. */
function untyped(options: object): SummarizerOptions {
  return options;
}

describe('summarizer settings', () => {
  it.each<[object, string]>([
    [{ keepRecentEvents: -1 }, 'summarizer.keepRecentEvents'],
    [{ turns: Number.NaN }, 'summarizer.turns'],
    [{ events: 1.5 }, 'summarizer.events'],
    [{ idleSeconds: Infinity }, 'summarizer.idleSeconds'],
    [{ branchEvents: -1 }, 'summarizer.branchEvents'],
    [{ events: '40' }, 'summarizer.events'],
    [{ event: 40 }, 'summarizer.event'],
    [{ match: 'some' }, 'summarizer.match'],
    [{ concurrency: 0 }, 'summarizer.concurrency'],
    [{ maxSummaryLength: 0 }, 'summarizer.maxSummaryLength'],
    [{ maxInputLength: 0 }, 'summarizer.maxInputLength'],
    [{ timeoutSeconds: 0 }, 'summarizer.timeoutSeconds'],
    [{ timeoutSeconds: 1_000_001 }, 'summarizer.timeoutSeconds'],
    [{ shutdownSeconds: 1_000_001 }, 'summarizer.shutdownSeconds'],
    [{ prompt: 'Summarise it.' }, 'summarizer.prompt'],
    [{ prompt: 7 }, 'summarizer.prompt'],
    [{ autoSummarize: false, leaveToOthers: true }, 'summarizer.leaveToOthers'],
    [{ segments: 0 }, 'summarizer.segments'],
    [{ segments: 21 }, 'summarizer.segments'],
    [{ segments: 2, segmentPrompt: 'Go on.' }, 'summarizer.segmentPrompt'],
    [{ segmentPrompt: 'Go on: {conversation_text}' }, 'summarizer.segmentPrompt'],
    [{ segments: 2, prompt: 'Sum up: {conversation_text}' }, 'summarizer.segmentPrompt'],
    [{ model: languageModel }, 'summarizer.model'],
    [{ modelAt: { baseUrl: 'https://me:pass@host', model: 'some' } }, 'summarizer.modelAt.baseUrl'],
    [{ modelAt: { baseUrl: 'https://host' } }, 'summarizer.modelAt.model'],
    [{ modelAt: { baseUrl: 'https://host', model: 'some', apiKey: 'a\nb' } }, 'summarizer.modelAt.apiKey'],
    [{ when: 'now' }, 'summarizer.when'],
    [{ checkers: [turnsOver(1), { turns: 1 }] }, 'summarizer.checkers'],
    [{ when: turnsOver(1), checkers: [turnsOver(2)] }, 'summarizer.checkers'],
  ])('%o are refused', (options, path) => {
    const storage = new InMemorySessionStorage();
    const sessions = new SessionService({ storage });
    expect(() => new SummarizerSessionManager({ sessions }, untyped(options))).toThrow(
      expect.objectContaining({ code: 'CONFIGURATION_INVALID', problems: [expect.stringMatching(`^${path}[ []`)] }),
    );
  });

  it.each<[NodeJS.ProcessEnv, string]>([
    [
      { SUMMARIZER_SHUTDOWN_SECONDS: '99999999' },
      'SUMMARIZER_SHUTDOWN_SECONDS is 99999999; it must be a number of seconds from 0 to 1000000.',
    ],
    [
      { SUMMARIZER_KEEP_RECENT_EVENTS: '-1' },
      'SUMMARIZER_KEEP_RECENT_EVENTS is -1; it must be a whole number from 0 on.',
    ],
    [
      { SUMMARIZER_TIMEOUT_SECONDS: '0' },
      'SUMMARIZER_TIMEOUT_SECONDS is 0; it must be a number of seconds above 0, up to 1000000.',
    ],
    [{ SUMMARIZER_MATCH: 'all' }, expect.stringMatching(/^SUMMARIZER_MATCH is not known; /) as string],
    [{ SUMMARIZER_TURNS: 'NaN' }, 'SUMMARIZER_TURNS is "NaN"; it must be a whole number from 0 on.'],
  ])('%o are refused by name', (env, problem) => {
    expect(problemsOf(env)).toEqual([problem]);
  });

  it.each([
    'https://',
    'http://:99999',
    'http://host:99999/v1',
    'https://[host/v1',
    'ftp://host/v1',
    'https://me:pass@host',
    'ftp://host/v1?key=pass',
  ])('with the address %s are refused by variable name, without the value', (url) => {
    const env = { SUMMARIZER_MODEL_URL: url, SUMMARIZER_MODEL: 'some' };
    expect(problemsOf(env)).toEqual([
      expect.stringMatching(/^SUMMARIZER_MODEL_URL cannot be read \(its value is not shown\); /),
    ]);
  });

  it('with an invalid key are refused by variable name, without the value', () => {
    const env = {
      SUMMARIZER_MODEL_URL: 'http://host',
      SUMMARIZER_MODEL: 'some',
      SUMMARIZER_MODEL_KEY: 'hunter2\nhunter3',
    };
    const problems = problemsOf(env);
    expect(problems).toEqual([expect.stringMatching(/^SUMMARIZER_MODEL_KEY /)]);
    expect(problems.join()).not.toContain('hunter');
  });
});
