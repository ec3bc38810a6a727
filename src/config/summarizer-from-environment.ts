import { ConfigurationError } from './configuration-error.js';
import { readEnvironment, unreadable } from './environment.js';
import type { ModelAddress, SummarizerSettings } from './summarizer.js';
import {
  MODEL_VARIABLES,
  SUMMARIZER_PREFIX,
  SUMMARIZER_SETTING_VARIABLES,
  SUMMARIZER_VARIABLES,
} from './summarizer-variables.js';
import { problemsOfNames } from './unknown-variables.js';
import type { Variable } from './variables.js';

/** The settings of summaries that environment variables can set. */
export type SummarizerConfig = Partial<SummarizerSettings> & { readonly modelAt?: ModelAddress | undefined };

/**
 * Reads the settings of summaries from environment variables. `docs/configuration.md` lists them.
 *
 * @throws ConfigurationError that names each variable that is wrong, missing or unknown
 * @example
 * SummarizerModule.forRoot(summarizerFromEnvironment(process.env));
 */
export function summarizerFromEnvironment(env: NodeJS.ProcessEnv): SummarizerConfig {
  const { values, problems } = readEnvironment(env, SUMMARIZER_VARIABLES);
  const said = ({ name }: Variable): string | undefined => values.get(name) as string | undefined;
  const [baseUrl, model, apiKey] = [MODEL_VARIABLES.url, MODEL_VARIABLES.name, MODEL_VARIABLES.key].map(said);
  const prompt = values.get('SUMMARIZER_PROMPT') as string | undefined;
  const all = [
    ...problemsOfNames(
      env,
      SUMMARIZER_VARIABLES.map(({ name }) => name),
      SUMMARIZER_PREFIX,
    ),
    ...problems.values(),
    ...problemsOfModel(baseUrl, model, apiKey, problems),
    ...(prompt !== undefined && !prompt.includes('{conversation_text}')
      ? ['SUMMARIZER_PROMPT does not hold {conversation_text}, where the conversation goes.']
      : []),
  ];
  if (all.length > 0) throw new ConfigurationError(all);
  const given = SUMMARIZER_SETTING_VARIABLES.filter(({ name }) => values.has(name));
  return {
    ...Object.fromEntries(given.map(({ name, setting }) => [setting, values.get(name)])),
    ...(baseUrl !== undefined && model !== undefined && { modelAt: { baseUrl, model, apiKey } }),
  };
}

/** An incomplete address is a problem. */
function problemsOfModel(
  url: string | undefined,
  model: string | undefined,
  key: string | undefined,
  problems: ReadonlyMap<string, string>,
): string[] {
  const { url: urlVariable, name, key: keyVariable } = MODEL_VARIABLES;
  if (problems.has(urlVariable.name)) return [];
  if (url !== undefined && !URL.canParse(url)) return [...unreadable(urlVariable).problems];
  if (url !== undefined) return model === undefined ? [`${name.name} is missing; ${urlVariable.name} needs it.`] : [];
  const alone = [...(model === undefined ? [] : [name]), ...(key === undefined ? [] : [keyVariable])];
  return alone.map((variable) => `${variable.name} is of no use without ${urlVariable.name}; set that as well.`);
}
