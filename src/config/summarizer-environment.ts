import { registerAs } from '@nestjs/config';
import { ConfigurationError } from './configuration-error.js';
import { type Reading, optionsIn, problemsOfNames, readVariables } from './read-variables.js';
import { MODEL_ROWS, type ModelAddress, SUMMARIZER_VARIABLES, type SummarizerSettings } from './summarizer-settings.js';
import { valuesIn } from './variable-rows.js';

/** The settings of summaries that environment variables can set. */
export type SummarizerConfig = Partial<SummarizerSettings> & { readonly modelAt?: ModelAddress | undefined };

/**
 * The configuration of summaries under the name `summarizer` of ConfigModule, from environment variables.
 *
 * @example
 * imports: [ConfigModule.forRoot({ load: [summarizerConfig] }), SummarizerModule.forRootAsync(summarizerConfig.asProvider())];
 */
export const summarizerConfig = registerAs('summarizer', () => summarizerFromEnvironment(process.env));

/**
 * Reads the settings of summaries from environment variables. `docs/configuration.md` lists them.
 *
 * @throws ConfigurationError that names each variable that is wrong, missing or unknown
 * @example
 * SummarizerModule.forRoot(summarizerFromEnvironment(process.env));
 */
export function summarizerFromEnvironment(env: NodeJS.ProcessEnv): SummarizerConfig {
  const reading = readVariables(env, SUMMARIZER_VARIABLES);
  const names = SUMMARIZER_VARIABLES.map(({ name }) => name);
  const problems = [
    ...problemsOfNames(env, names, 'SUMMARIZER_'),
    ...reading.problems.values(),
    ...problemsOfModel(reading),
  ];
  if (problems.length > 0) throw new ConfigurationError(problems);
  const { baseUrl, model, apiKey } = valuesIn(MODEL_ROWS, reading.values);
  return {
    ...optionsIn(reading.values, SUMMARIZER_VARIABLES, 'summarizer'),
    ...(baseUrl !== undefined && model !== undefined && { modelAt: { baseUrl, model, apiKey } }),
  };
}

/** An incomplete address is a problem. */
function problemsOfModel({ values, problems }: Reading): string[] {
  if (problems.has('SUMMARIZER_MODEL_URL')) return [];
  if (values.has('SUMMARIZER_MODEL_URL')) {
    return values.has('SUMMARIZER_MODEL') ? [] : ['SUMMARIZER_MODEL is missing; SUMMARIZER_MODEL_URL needs it.'];
  }
  return ['SUMMARIZER_MODEL', 'SUMMARIZER_MODEL_KEY']
    .filter((name) => values.has(name))
    .map((name) => `${name} is of no use without SUMMARIZER_MODEL_URL; set that as well.`);
}
